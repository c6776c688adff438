"""Diagnosis of a crowd: tables of workers and tasks, flags, agreement, and labels without suspects."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import GLAD, Aggregate, Aggregator, NotConverged, aggregate
from crowdpilot.arrays import Codes, Floats
from crowdpilot.diagnosis.agreement import NOMINAL_MEASURES, Agreement, measure_agreement
from crowdpilot.diagnosis.collusion import WorkerPairs, detect_collusion
from crowdpilot.diagnosis.false_discovery_rate import Flags
from crowdpilot.diagnosis.leave_one_out import leave_one_out_posteriors
from crowdpilot.diagnosis.skill_intervals import ensure_honest
from crowdpilot.diagnosis.tasks import task_table
from crowdpilot.diagnosis.workers import Columns, FlagRules, worker_table
from crowdpilot.io import as_votes
from crowdpilot.notebook_html import histogram, panel, table
from crowdpilot.option_strings import unknown_attribute
from crowdpilot.votes import Votes

OTHER_NAMES = {
    "spammers": "diagnosis.workers['worker'][diagnosis.flags['spammer']]",
    "to_pandas": "pandas.DataFrame(diagnosis.workers) or pandas.DataFrame(diagnosis.tasks)",
    "plot": "crowdpilot.report(diagnosis, 'report.html')",
}  # what people look for


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Scores of all workers and tasks, flags, agreement, and the labels.

    Parameters
    ----------
    result
        The labels with honest probabilities, whatever the model, and the votes they come from.
    rules
        Thresholds of the flags.
    workers
        Columns with a value for each worker: names, votes, skill with its interval, and every score.
    flags
        For each kind of flag that could be judged, (workers,), who has it.
    tasks
        Columns with a value for each task.
    confusion
        (workers, true, said); estimated, shrunk towards the crowd's where votes are few.
    crowd_confusion
        (true, said); of all workers together.
    agreement
        Measures of agreement with their bootstrap intervals.
    pairs
        Pairs of workers who share surprising labels, the largest likelihood ratio first.
    windows
        (workers, windows) arrays `time`, `skill` and `votes`; None if votes have no time.
    without_suspects
        The result without the votes of spammers, and with the equal votes of a colluding group on
        a task counted once; None if nobody has either flag.
    seed
        Of the random numbers.
    """

    result: Aggregate
    rules: FlagRules
    workers: Columns
    flags: dict[str, Flags]
    tasks: Columns
    confusion: Floats
    crowd_confusion: Floats
    agreement: tuple[Agreement, ...]
    pairs: WorkerPairs
    windows: Columns | None
    without_suspects: Aggregate | None
    seed: int = 0

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_attribute(self, name, OTHER_NAMES)

    @property
    def votes(self) -> Votes:
        """The votes that were diagnosed."""
        return self.result.votes

    @property
    def changed(self) -> Flags:
        """(tasks,); whether `without_suspects` has another label."""
        changed: Flags = self.tasks["changed"]
        return changed

    @property
    def flagged(self) -> Flags:
        """(workers,); who has any flag."""
        flagged: Flags = np.logical_or.reduce([self.flagged_as(flag) for flag in ("", *self.flags)])
        return flagged

    def flagged_as(self, flag: str) -> Flags:
        """(workers,); who has this flag; nobody if it could not be judged."""
        return self.flags.get(flag, np.zeros(len(self.votes.workers), bool))

    @property
    def _flag_counts(self) -> str:
        return ", ".join(f"{int(flagged.sum())} {name}" for name, flagged in self.flags.items())

    def __repr__(self) -> str:
        return f"Diagnosis({self.votes!r}; {self._flag_counts})"

    def _repr_html_(self) -> str:
        """Flagged workers come first, then those of the lowest skill."""
        order = np.lexsort([self.workers["skill"], ~self.flagged])
        names = ("worker", "votes", "skill", "skill_low", "skill_high", "flags")
        sparks = [
            histogram(self.workers["skill"], "skill of workers"),
            histogram(self.tasks["vote_entropy"], "entropy of the votes"),
            histogram(self.result.confidence, "confidence of labels"),
        ]
        agreement = dict(zip(Agreement._fields, zip(*self.agreement, strict=True), strict=False))
        workers = table({name: self.workers[name][order] for name in names})
        summary = f"{repr(self.votes)[6:-1]}; {self._flag_counts}"
        return panel("Diagnosis", summary, workers, table(agreement), sparks=sparks)


def diagnose(
    votes: Any,
    model: str | Aggregator | type[Aggregator] | None = None,
    *,
    rules: FlagRules | None = None,
    traps: Collection[Any] = (),
    scores: Mapping[str, Floats] | None = None,
    samples: int = 200,
    seed: int = 0,
) -> Diagnosis:
    """Score all workers and tasks: skill, spam, collusion, drift, difficulty, and agreement.

    Parameters
    ----------
    votes
        Votes of any kind, as for `crowdpilot.read`, or the result of a model. Times, seconds and gold labels
        are used if the votes have them.
    model
        The aggregator that gives the labels, or its name; `auto` if not given.
    rules
        Thresholds of the flags.
    traps
        Names of the tasks of known class that were set as traps.
    scores
        Further columns for the tasks, one number for each, such as AUM or WAUM.
    samples
        Bootstrap samples for the intervals of agreement.
    seed
        Of the random numbers.

    Examples
    --------
    >>> from crowdpilot.simulation import HammerSpammer
    >>> votes, truth = HammerSpammer(tasks=200, workers=20, ratio=0.2, votes_per_task=10).run()
    >>> diagnose(votes).workers["worker"][diagnose(votes).flags["spammer"]].tolist()
    [16, 17, 18, 19]
    """
    result = _result(votes, model)
    votes = result.votes
    rules = rules or FlagRules()
    loo = leave_one_out_posteriors(result)
    collusion = detect_collusion(loo, rules.false_discovery_rate)
    glad = fit_glad(votes)
    workers, flags, drift = worker_table(result, loo, collusion, glad.ability, rules, traps, seed)
    without = _refit_without(result, flags["spammer"], collusion.group)
    changed = np.zeros(len(votes.tasks), bool) if without is None else _changed(result, without)
    tasks = task_table(result, glad.difficulty, changed, target=rules.target, scores=scores)
    windows = None if drift is None else {"time": drift.time, "skill": drift.skill, "votes": drift.votes}
    unweighted = replace(votes, weight=None)
    agreement = measure_agreement(unweighted, measures=NOMINAL_MEASURES, samples=samples, seed=seed)
    return Diagnosis(
        result, rules, workers, flags, tasks, loo.confusion, loo.crowd_confusion,
        agreement, collusion.pairs, windows, without, seed,
    )  # fmt: skip


def _result(source: Any, model: str | Aggregator | type[Aggregator] | None) -> Aggregate:
    """The honest result of the model on votes of any kind, or of a result."""
    if isinstance(source, Aggregate):
        return ensure_honest(source)
    votes = as_votes(source)
    if len(votes.tasks) == 0:
        raise ValueError("there are no tasks to diagnose: give at least one vote")
    return ensure_honest(aggregate(votes, model or "auto"))


class GladScores(NamedTuple):
    """Parameters of GLAD; NaN if there is only one class."""

    ability: Floats  # (workers,)
    difficulty: Floats  # (tasks,)


def fit_glad(votes: Votes) -> GladScores:
    """Ability of the workers and difficulty of the tasks by GLAD, after enough iterations to rank them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        params = GLAD(max_iter=50).fit(votes).params
    ability = params.get("ability", np.full(len(votes.workers), np.nan))
    difficulty = params.get("difficulty", np.full(len(votes.tasks), np.nan))
    voted = np.bincount(votes.worker, minlength=len(votes.workers)) > 0
    return GladScores(np.where(voted, ability, np.nan), difficulty)


def _refit_without(result: Aggregate, spammer: Flags, group: Codes) -> Aggregate | None:
    """The same model without spammers and copies; None if there are none, or no votes are left."""
    votes, rows = result.votes, ~spammer[result.votes.worker]
    if result.model is None or not rows.any() or not (spammer.any() or (group >= 0).any()):
        return None
    rest = votes.take(rows)
    weight = rest.weights / _copies(rest, group[rest.worker])
    return ensure_honest(result.model.fit(replace(rest, weight=weight)))


def _copies(votes: Votes, group: Codes) -> Floats:
    """How many equal votes on the same task come from the group of each vote, (votes,); 1 without a group."""
    cell = (votes.task.astype(np.int64) * len(votes.classes) + votes.label) * (len(votes.workers) + 1)
    _, which, count = np.unique(cell + group, return_inverse=True, return_counts=True)
    return np.where(group >= 0, count[which], 1).astype(np.float64)


def _changed(result: Aggregate, without: Aggregate) -> Flags:
    """Where the label differs, among tasks that still have votes, (tasks,)."""
    has_votes = np.bincount(without.votes.task, minlength=len(result.codes)) > 0
    changed: Flags = has_votes & (result.codes != without.codes)
    return changed
