"""What every simulated crowd has in common, and what every one gives back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.simulation.assignment import assign
from crowdpilot.simulation.behaviours import (
    collude_,
    draw_groups,
    draw_paces,
    draw_seconds,
    draw_some,
    drift_,
    guess_,
)
from crowdpilot.simulation.confusion_matrices import draw_labels, read_matrices
from crowdpilot.votes import Votes

Limits = dict[str, tuple[float, float]]  # lowest and highest value of a setting
COUNT = (1, 2**31 - 1)
SHARE = (0, 1)
AMOUNT = (0, 1_000_000)
POSITIVE = (0.001, 1_000_000)


class Plan(NamedTuple):
    """What a strategy decides about workers and tasks."""

    confusion: Floats  # (workers, true, said); each row sums to one
    difficulty: Names | None = None  # (tasks,); "easy", "hard" or "random"
    teacher: Codes | None = None  # (workers,); whose matrix they have, their own number if their own


class Workers(NamedTuple):
    """All that is drawn about workers, before they meet any task."""

    plan: Plan
    popularity: Floats  # (workers,); logs of how likely each is to come
    drifting: NDArray[np.bool_]
    group: Codes  # of those who collude; -1 for the honest
    paces: Floats | None  # (workers,); logs of how much slower than usual each is


@dataclass(frozen=True, eq=False)
class Simulation:
    """Votes of a crowd and everything that is true about it; unpacks as `votes, truth`.

    Parameters
    ----------
    votes
        What the crowd said.
    truth
        (tasks,); the code of the class of each task.
    confusion
        (workers, true, said); what a worker says of hard tasks when alone and not yet drifting.
    difficulty
        (tasks,); "easy" (nobody errs), "hard" (by the matrices) or "random" (everybody guesses).
    teacher
        (workers,); the worker whose matrix each one has.
    group
        (workers,); the code of the colluding group, -1 for the honest.
    drifting
        (workers,); who comes to guess more and more.
    crowd
        The settings that made it.
    """

    votes: Votes
    truth: Codes
    confusion: Floats
    difficulty: Names | None
    teacher: Codes | None
    group: Codes
    drifting: NDArray[np.bool_]
    crowd: Crowd

    def __iter__(self) -> Iterator[Any]:
        return iter((self.votes, self.truth))


@dataclass(frozen=True, kw_only=True)
class Crowd(ABC):
    """A frozen set of settings whose `run` makes a `Simulation`; the same seed makes the same one.

    Each setting draws from random numbers of its own: with abstentions, say, the votes that remain
    are those of the same crowd without. The largest array is (workers, classes, classes).

    Parameters
    ----------
    n_task, n_worker, K
        How many tasks, workers and classes there are.
    feedback
        Votes for each task, all by different workers; if not given, as many as possible.
    workerload
        Votes a worker gives at most.
    imbalance_votes
        Whether each task gets a random number of votes from 1 to `feedback` instead.
    matrix_file
        A file of numpy (`.npy`) with confusion matrices, (workers, true, said), to take instead of
        drawing them: for all workers, or for those who are no spammers or students.
    prior
        Probability of each class; all the same if not given.
    tail
        How unequally workers come: the *r*-th most active in proportion to r^-tail.
    drifting
        Share of the workers who drift: at time t, from 0 to 1 at the end, they guess with
        probability t. The votes then have a `time`.
    colluding
        Share of the workers who collude: those of one group who meet at a task all give the
        answer of the first of them.
    group_size
        How many workers make a colluding group, about.
    abstain
        Share of the votes that are missing, at random.
    seconds
        How long a vote takes (the median of a log-normal law); spammers take a third of it. The
        votes then have `seconds`.
    seed
        Where the random numbers begin.
    """

    n_task: int = 200
    n_worker: int = 30
    K: int = 5
    feedback: int | None = None
    workerload: int | None = None
    imbalance_votes: bool = False
    matrix_file: str | Path | None = None
    prior: tuple[float, ...] | None = None
    tail: float = 0.0
    drifting: float = 0.0
    colluding: float = 0.0
    group_size: int = 5
    abstain: float = 0.0
    seconds: float | None = None
    seed: int = 0

    name: ClassVar[str]
    limits: ClassVar[Limits] = {
        **dict.fromkeys(("n_task", "n_worker", "K", "feedback", "workerload", "group_size"), COUNT),
        **dict.fromkeys(("drifting", "colluding", "abstain"), SHARE),
        "tail": AMOUNT,
        "seconds": POSITIVE,
        "seed": (0, 2**63 - 1),
    }

    @abstractmethod
    def plan(self, rng: Generator) -> Plan:
        """Draw the matrices of the workers, and what else the strategy is about."""

    def __post_init__(self) -> None:
        for name, (low, high) in self.limits.items():
            if (value := getattr(self, name)) is not None and not low <= value <= high:
                raise ValueError(f"{name} is {value}, expected a number between {low:,} and {high:,}")
        if self.prior is not None and not _is_prior(self.prior, self.K):
            raise ValueError(f"the class prior is {self.prior}, expected {self.K} shares that sum to 1")
        self._check_feedback()

    def _check_feedback(self) -> None:
        feedback = max(1, self.votes_per_task)
        if feedback > self.n_worker:
            raise ValueError(
                f"feedback is {feedback}, expected at most one vote from {self.n_worker} workers"
            )
        room = self.n_worker * (self.workerload or self.n_task)
        if room < (needed := self.n_task * feedback):
            raise ValueError(
                f"{self.n_worker} workers with workerload {self.workerload} give {room} votes, expected "
                f"{needed} for {self.n_task} tasks with {feedback} each"
            )
        if self.tail and feedback == self.n_worker:
            raise ValueError("tail has no effect when every worker votes on every task; lower feedback")

    @property
    def votes_per_task(self) -> int:
        """Votes for each task, before abstentions."""
        if self.feedback is not None or self.workerload is None:
            return self.feedback or self.n_worker
        return min(self.n_worker, self.n_worker * self.workerload // self.n_task)

    def matrices(self, workers: int) -> Floats | None:
        """The first matrices of `matrix_file`, None if it is not given."""
        return None if self.matrix_file is None else read_matrices(self.matrix_file, workers, self.K)

    def run(self) -> Simulation:
        """Draw the crowd, the truth and the votes."""
        streams = np.random.default_rng(self.seed).spawn(8)
        return self._vote(self._gather(streams), streams)

    def shard(self, n: int, of: int) -> Simulation:
        """One of several parts of the tasks, drawn without the others: the same workers vote in all.

        Part *n*, counted from zero, names its tasks on from those before it.
        """
        if self.workerload is not None:
            raise ValueError("workerload cannot be kept over several parts: leave it out, or make one part")
        if not 0 <= n < of <= self.n_task:
            raise ValueError(f"part {n} of {of} was asked for, and there are {self.n_task} tasks")
        own = replace(self, n_task=(self.n_task + of - 1 - n) // of)
        first = n * (self.n_task // of) + min(n, self.n_task % of)
        workers = replace(self, n_task=1)._gather(np.random.default_rng(self.seed).spawn(8))
        streams = np.random.default_rng([self.seed, n + 1]).spawn(8)
        if workers.plan.difficulty is not None:
            tasks = own.plan(streams[1]).difficulty
            workers = workers._replace(plan=workers.plan._replace(difficulty=tasks))
        return own._vote(workers, streams, first)

    def _gather(self, streams: Sequence[Generator]) -> Workers:
        _, for_crowd, for_tasks, _, for_groups, for_drift, for_seconds, _ = streams
        plan = self.plan(for_crowd)
        return Workers(
            plan,
            -self.tail * np.log1p(for_tasks.permutation(self.n_worker)),
            draw_some(self.n_worker, self.drifting, for_drift),
            draw_groups(self.n_worker, self.colluding, self.group_size, for_groups),
            draw_paces(plan.confusion, for_seconds) if self.seconds else None,
        )

    def _vote(self, workers: Workers, streams: Sequence[Generator], first: int = 0) -> Simulation:
        for_truth, _, for_tasks, for_labels, _, for_drift, for_seconds, for_gaps = streams
        plan, drifting, group = workers.plan, workers.drifting, workers.group
        prior = None if self.prior is None else np.asarray(self.prior) / sum(self.prior)
        truth = for_truth.choice(self.K, self.n_task, p=prior).astype(np.int32)
        task, worker = self._meet(workers.popularity, for_tasks)
        label = draw_labels(plan.confusion, worker, truth[task], for_labels)
        time = drift_(label, drifting[worker], self.K, for_drift) if self.drifting else None
        if plan.difficulty is not None:
            guess_(label, (plan.difficulty == "random")[task], self.K, for_labels)
            label = np.where((plan.difficulty == "easy")[task], truth[task], label)
        collude_(label, task, group[worker])
        seconds = None
        if workers.paces is not None and self.seconds:
            seconds = draw_seconds(workers.paces[worker], self.seconds, for_seconds)
        names = np.arange(first, first + self.n_task), np.arange(self.n_worker), np.arange(self.K)
        votes = Votes(task, worker, label, *names, seconds=seconds, time=time)
        return Simulation(self._thin(votes, for_gaps), truth, *plan, group, drifting, self)

    def _meet(self, popularity: Floats, rng: Generator) -> tuple[Codes, Codes]:
        """The task and the worker of each vote, in this order."""
        hands = assign(self.n_task, self.votes_per_task, popularity, self.workerload, rng)
        task = np.repeat(np.arange(self.n_task, dtype=np.int32), hands.shape[1])
        if not self.imbalance_votes:
            return task, hands.reshape(-1)
        wanted = rng.integers(1, hands.shape[1], self.n_task, endpoint=True)
        place = rng.random(hands.shape).argsort(axis=1)
        kept = (place < wanted[:, None]).reshape(-1)
        return task[kept], hands.reshape(-1)[kept]

    def _thin(self, votes: Votes, rng: Generator) -> Votes:
        if not self.abstain:
            return votes
        kept = rng.random(len(votes)) >= self.abstain
        return replace(votes.take(kept), dropped=int((~kept).sum()))


def _is_prior(prior: tuple[float, ...], K: int) -> bool:
    return len(prior) == K and min(prior) >= 0 and abs(sum(prior) - 1) < 1e-6
