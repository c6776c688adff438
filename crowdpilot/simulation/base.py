"""`Crowd`, the base class of simulated crowds, and `Simulation`, the votes and the truth that it draws."""

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
    draw_log_slowness,
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


class CrowdDesign(NamedTuple):
    """What a strategy draws about workers and tasks."""

    confusion: Floats  # (workers, true, said); each row sums to one
    difficulty: Names | None = None  # (tasks,); "easy", "hard" or "random"
    teacher: Codes | None = None  # (workers,); whose matrix they have, their own number if their own


class DrawnWorkers(NamedTuple):
    """All that is drawn about workers, before tasks are assigned to them."""

    design: CrowdDesign
    popularity: Floats  # (workers,); log of the relative rate at which each one votes
    drifting: NDArray[np.bool_]
    group: Codes  # of those who collude; -1 for the honest
    log_slowness: Floats | None  # (workers,); log of how much slower than the median each is


@dataclass(frozen=True, eq=False)
class Simulation:
    """Votes of a crowd and everything that is true about it; unpacks as `votes, truth`.

    Parameters
    ----------
    votes
        The votes of the crowd.
    truth
        (tasks,); the code of the class of each task.
    confusion
        (workers, true, said); of each worker on hard tasks, before drift and collusion.
    difficulty
        (tasks,); "easy" (no errors), "hard" (errors by the matrices) or "random" (all votes are guesses).
    teacher
        (workers,); the worker whose matrix each one has.
    group
        (workers,); the code of the colluding group, -1 for the honest.
    drifting
        (workers,); whose votes become guesses over time.
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
    tasks, workers, classes
        How many tasks, workers and classes there are.
    votes_per_task
        Votes on each task, all by different workers; if not set, as many as possible.
    max_votes_per_worker
        Votes a worker gives at most.
    imbalance_votes
        Whether each task gets a random number of votes from 1 to `votes_per_task` instead.
    matrix_file
        A file of numpy (`.npy`) with confusion matrices, (workers, true, said), to take instead of
        drawing them: for all workers, or for those who are no spammers or students.
    prior
        Probability of each class; all the same if not given.
    tail
        Exponent of the power law of activity: the *r*-th most active worker votes in proportion to r^-tail.
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
        Seed of the random numbers.
    """

    tasks: int = 200
    workers: int = 30
    classes: int = 5
    votes_per_task: int | None = None
    max_votes_per_worker: int | None = None
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
        **dict.fromkeys(
            ("tasks", "workers", "classes", "votes_per_task", "max_votes_per_worker", "group_size"), COUNT
        ),
        **dict.fromkeys(("drifting", "colluding", "abstain"), SHARE),
        "tail": AMOUNT,
        "seconds": POSITIVE,
        "seed": (0, 2**63 - 1),
    }

    @abstractmethod
    def draw_design(self, rng: Generator) -> CrowdDesign:
        """Draw the confusion matrices of the workers, and the difficulty of tasks if the strategy has one."""

    def __post_init__(self) -> None:
        for name, (low, high) in self.limits.items():
            if (value := getattr(self, name)) is not None and not low <= value <= high:
                raise ValueError(f"{name} is {value}, expected a number between {low:,} and {high:,}")
        if self.prior is not None and not _is_prior(self.prior, self.classes):
            raise ValueError(f"the class prior is {self.prior}, expected {self.classes} shares that sum to 1")
        self._check_votes_per_task()

    def _check_votes_per_task(self) -> None:
        each = max(1, self.resolved_votes_per_task)
        if each > self.workers:
            raise ValueError(
                f"votes_per_task is {each}, expected at most one vote from {self.workers} workers"
            )
        capacity = self.workers * (self.max_votes_per_worker or self.tasks)
        if capacity < (needed := self.tasks * each):
            raise ValueError(
                f"{self.workers} workers with max_votes_per_worker {self.max_votes_per_worker} "
                f"give {capacity} votes, expected {needed} for {self.tasks} tasks with {each} each"
            )
        if self.tail and each == self.workers:
            raise ValueError("tail has no effect when every worker votes on every task; lower votes_per_task")

    @property
    def resolved_votes_per_task(self) -> int:
        """How many votes each task gets before abstentions, also where `votes_per_task` is not set."""
        if self.votes_per_task is not None or self.max_votes_per_worker is None:
            return self.votes_per_task or self.workers
        return min(self.workers, self.workers * self.max_votes_per_worker // self.tasks)

    def matrices(self, workers: int) -> Floats | None:
        """The first matrices of `matrix_file`, None if there is none."""
        return None if self.matrix_file is None else read_matrices(self.matrix_file, workers, self.classes)

    def run(self) -> Simulation:
        """Draw the crowd, the truth and the votes."""
        streams = np.random.default_rng(self.seed).spawn(8)
        return self._vote(self._draw_workers(streams), streams)

    def shard(self, n: int, of: int) -> Simulation:
        """One of several parts of the tasks, drawn without the others: the same workers vote in all.

        Part *n*, counted from zero, names its tasks on from those before it.
        """
        if self.max_votes_per_worker is not None:
            raise ValueError(
                "max_votes_per_worker cannot be kept over several parts: leave it out, or make one part"
            )
        if not 0 <= n < of <= self.tasks:
            raise ValueError(f"part {n} of {of} was asked for, and there are {self.tasks} tasks")
        own = replace(self, tasks=(self.tasks + of - 1 - n) // of)
        first = n * (self.tasks // of) + min(n, self.tasks % of)
        workers = replace(self, tasks=1)._draw_workers(np.random.default_rng(self.seed).spawn(8))
        streams = np.random.default_rng([self.seed, n + 1]).spawn(8)
        if workers.design.difficulty is not None:
            tasks = own.draw_design(streams[1]).difficulty
            workers = workers._replace(design=workers.design._replace(difficulty=tasks))
        return own._vote(workers, streams, first)

    def _draw_workers(self, streams: Sequence[Generator]) -> DrawnWorkers:
        _, for_crowd, for_tasks, _, for_groups, for_drift, for_seconds, _ = streams
        design = self.draw_design(for_crowd)
        return DrawnWorkers(
            design,
            -self.tail * np.log1p(for_tasks.permutation(self.workers)),
            draw_some(self.workers, self.drifting, for_drift),
            draw_groups(self.workers, self.colluding, self.group_size, for_groups),
            draw_log_slowness(design.confusion, for_seconds) if self.seconds else None,
        )

    def _vote(self, workers: DrawnWorkers, streams: Sequence[Generator], first: int = 0) -> Simulation:
        for_truth, _, for_tasks, for_labels, _, for_drift, for_seconds, for_gaps = streams
        design, drifting, group = workers.design, workers.drifting, workers.group
        prior = None if self.prior is None else np.asarray(self.prior) / sum(self.prior)
        truth = for_truth.choice(self.classes, self.tasks, p=prior).astype(np.int32)
        task, worker = self._assign_votes(workers.popularity, for_tasks)
        label = draw_labels(design.confusion, worker, truth[task], for_labels)
        time = drift_(label, drifting[worker], self.classes, for_drift) if self.drifting else None
        if design.difficulty is not None:
            guess_(label, (design.difficulty == "random")[task], self.classes, for_labels)
            label = np.where((design.difficulty == "easy")[task], truth[task], label)
        collude_(label, task, group[worker])
        seconds = None
        if workers.log_slowness is not None and self.seconds:
            seconds = draw_seconds(workers.log_slowness[worker], self.seconds, for_seconds)
        names = np.arange(first, first + self.tasks), np.arange(self.workers), np.arange(self.classes)
        votes = Votes(task, worker, label, *names, seconds=seconds, time=time)
        return Simulation(self._drop_abstentions(votes, for_gaps), truth, *design, group, drifting, self)

    def _assign_votes(self, popularity: Floats, rng: Generator) -> tuple[Codes, Codes]:
        """The task and the worker of each vote, in this order."""
        assigned = assign(
            self.tasks, self.resolved_votes_per_task, popularity, self.max_votes_per_worker, rng
        )
        task = np.repeat(np.arange(self.tasks, dtype=np.int32), assigned.shape[1])
        if not self.imbalance_votes:
            return task, assigned.reshape(-1)
        number = rng.integers(1, assigned.shape[1], self.tasks, endpoint=True)
        rank = rng.random(assigned.shape).argsort(axis=1)
        kept = (rank < number[:, None]).reshape(-1)
        return task[kept], assigned.reshape(-1)[kept]

    def _drop_abstentions(self, votes: Votes, rng: Generator) -> Votes:
        if not self.abstain:
            return votes
        kept = rng.random(len(votes)) >= self.abstain
        return replace(votes.take(kept), dropped=int((~kept).sum()))


def _is_prior(prior: tuple[float, ...], K: int) -> bool:
    return len(prior) == K and min(prior) >= 0 and abs(sum(prior) - 1) < 1e-6
