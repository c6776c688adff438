"""Everything there is to know about a crowd and its tasks, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import GLAD, Aggregate, Aggregator, Auto, NotConverged
from crowdpilot.arrays import Codes, Floats
from crowdpilot.diagnosis.agreement import UNORDERED, Agreement, agreement
from crowdpilot.diagnosis.collusion import Pairs, collusion
from crowdpilot.diagnosis.false_discoveries import Flags
from crowdpilot.diagnosis.leave_one_out import weigh
from crowdpilot.diagnosis.tasks import table_of_tasks
from crowdpilot.diagnosis.workers import Columns, Rules, table_of_workers
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A crowd, its tasks and their labels, looked at from all sides.

    Parameters
    ----------
    result
        The labels, and the votes they come from.
    rules
        When a worker is flagged.
    workers
        Columns with a value for each worker: names, votes, skill with its interval, and every score.
    flags
        For each kind of flag that could be judged, (workers,), who has it.
    tasks
        Columns with a value for each task.
    confusion
        (workers, true, said); estimated, drawn towards the crowd's where votes are few.
    crowd
        (true, said); of all workers together.
    agreement
        Measures of agreement with their bootstrap intervals.
    pairs
        Pairs of workers who share surprising labels, the most suspect first.
    windows
        (workers, windows) arrays `time`, `skill` and `votes`; None if votes have no time.
    without
        The result without the votes of spammers, and with the equal votes of a colluding group on
        a task counted once; None if nobody is flagged so.
    seed
        Where random numbers began.
    """

    result: Aggregate
    rules: Rules
    workers: Columns
    flags: dict[str, Flags]
    tasks: Columns
    confusion: Floats
    crowd: Floats
    agreement: tuple[Agreement, ...]
    pairs: Pairs
    windows: Columns | None
    without: Aggregate | None
    seed: int = 0

    @property
    def votes(self) -> Votes:
        """The votes that were looked at."""
        return self.result.votes

    @property
    def changed(self) -> Flags:
        """(tasks,); whether `without` has another label."""
        changed: Flags = self.tasks["changed"]
        return changed

    @property
    def flagged(self) -> Flags:
        """(workers,); who has any flag."""
        some: Flags = np.logical_or.reduce([self.who(flag) for flag in ("", *self.flags)])
        return some

    def who(self, flag: str) -> Flags:
        """(workers,); who has this flag; nobody if it could not be judged."""
        return self.flags.get(flag, np.zeros(len(self.votes.workers), bool))

    def __repr__(self) -> str:
        found = ", ".join(f"{int(who.sum())} {name}" for name, who in self.flags.items())
        return f"Diagnosis({self.votes!r}; {found})"


def diagnose(
    votes: Votes,
    model: Aggregator | None = None,
    *,
    rules: Rules | None = None,
    traps: Collection[Any] = (),
    scores: Mapping[str, Floats] | None = None,
    samples: int = 200,
    seed: int = 0,
) -> Diagnosis:
    """Look at votes from all sides: who is good, who spams, colludes or drifts, which tasks are hard.

    Parameters
    ----------
    votes
        What the workers said; times, seconds and gold labels are used if they are there.
    model
        Gives the labels; `Auto` if not given.
    rules
        When a worker is flagged.
    traps
        Names of the tasks of known class that were set as traps.
    scores
        Further columns for the tasks, one number for each, such as AUM or WAUM.
    samples
        Of the bootstrap intervals of agreement.
    seed
        Where random numbers begin.

    Examples
    --------
    >>> from crowdpilot.simulation import HammerSpammer
    >>> votes, truth = HammerSpammer(n_task=200, n_worker=20, ratio=0.2, feedback=10).run()
    >>> diagnose(votes).workers["worker"][diagnose(votes).flags["spammer"]].tolist()
    [16, 17, 18, 19]
    """
    if len(votes.tasks) == 0:
        raise ValueError("there are no tasks to look at: give at least one vote")
    rules = rules or Rules()
    result = (model or Auto()).fit(votes)
    evidence = weigh(result)
    together = collusion(evidence, rules.false_share)
    glad = fit_glad(votes)
    workers, flags, change = table_of_workers(result, evidence, together, glad.ability, rules, traps, seed)
    without = _leave_out(result, flags["spammer"], together.group)
    changed = np.zeros(len(votes.tasks), bool) if without is None else _changed(result, without)
    tasks = table_of_tasks(result, evidence, glad.difficulty, changed, target=rules.target, scores=scores)
    windows = None if change is None else {"time": change.time, "skill": change.skill, "votes": change.votes}
    once = replace(votes, weight=None)  # numbers may be mere codes, and every vote counts as one
    agreed = agreement(once, measures=UNORDERED, samples=samples, seed=seed)
    return Diagnosis(
        result, rules, workers, flags, tasks, evidence.confusion, evidence.crowd,
        agreed, together.pairs, windows, without, seed,
    )  # fmt: skip


class Glad(NamedTuple):
    """What GLAD says; NaN if there is only one class."""

    ability: Floats  # (workers,)
    difficulty: Floats  # (tasks,)


def fit_glad(votes: Votes) -> Glad:
    """Ability of the workers and difficulty of the tasks, after enough rounds to rank them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        params = GLAD(max_iter=50).fit(votes).params
    ability = params.get("ability", np.full(len(votes.workers), np.nan))
    difficulty = params.get("difficulty", np.full(len(votes.tasks), np.nan))
    seen = np.bincount(votes.worker, minlength=len(votes.workers)) > 0
    return Glad(np.where(seen, ability, np.nan), difficulty)


def _leave_out(result: Aggregate, spammer: Flags, group: Codes) -> Aggregate | None:
    """The same model without spammers and repetitions; None if there are none, or no votes are left."""
    votes, kept = result.votes, ~spammer[result.votes.worker]
    if result.model is None or not kept.any() or not (spammer.any() or (group >= 0).any()):
        return None
    rest = votes.take(kept)
    return result.model.fit(replace(rest, weight=rest.weights / _echoes(rest, group[rest.worker])))


def _echoes(votes: Votes, group: Codes) -> Floats:
    """How many equal votes on the same task come from the group of each vote; one if it has none."""
    place = (votes.task.astype(np.int64) * len(votes.classes) + votes.label) * (len(votes.workers) + 1)
    _, which, count = np.unique(place + group, return_inverse=True, return_counts=True)
    return np.where(group >= 0, count[which], 1).astype(np.float64)


def _changed(result: Aggregate, without: Aggregate) -> Flags:
    """Where the label differs, among tasks that still have votes."""
    still = np.bincount(without.votes.task, minlength=len(result.codes)) > 0
    changed: Flags = still & (result.codes != without.codes)
    return changed
