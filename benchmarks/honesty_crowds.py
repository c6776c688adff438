"""Crowds whose labels are measured: the votes of a set, thinned, with gold, and the true classes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks import sets
from crowdpilot.arrays import Codes
from crowdpilot.votes import Votes

VOTES_A_TASK: tuple[int | None, ...] = (None, 1, 2, 3, 5)  # None is every vote
GOLD_LABELS = (20, 50, 100)
GOLD_SEEDS = 5
MIN_TASKS_PER_GOLD_LABEL = 1.5  # tasks with a known class that a set needs for each gold label given


@dataclass(frozen=True, eq=False)
class Crowd:
    """Votes, of which a worker's last on a task counts, and the true class of some tasks.

    Parameters
    ----------
    name
        Of the set.
    votes
        The votes; classes that occur only in the truth are among their classes.
    truth
        The code of the class of each task, -1 where it is not known or not measured.
    votes_a_task
        To how many votes it was thinned at most; None if it was not.
    """

    name: str
    votes: Votes
    truth: Codes
    votes_a_task: int | None = None

    @property
    def group(self) -> str:
        """The group of sets that is held out together with this one."""
        return sets.group_of(self.name)

    @property
    def measured(self) -> int:
        """How many tasks have a known class that is not given as gold."""
        return int((self.truth >= 0).sum())

    @property
    def fingerprint(self) -> str:
        """Changes with any vote and any true class."""
        v = self.votes
        digest = hashlib.sha256(b"".join(c.tobytes() for c in (v.task, v.worker, v.label, self.truth)))
        return digest.hexdigest()[:16]

    def thinned(self, most: int | None, seed: int = 0) -> Crowd:
        """At most so many votes of each task, drawn at random; fewer are always among more of one seed."""
        if most is None:
            return self
        v = self.votes
        order = np.lexsort((np.random.default_rng(seed).random(len(v)), v.task))
        first = np.searchsorted(v.task[order], v.task[order])  # where the votes of its task begin
        kept = np.sort(order[np.arange(len(v)) - first < most])
        votes = v.take(kept)
        present = np.bincount(votes.worker, minlength=len(v.workers)) > 0
        return replace(self, votes=votes.select(workers=present), votes_a_task=most)

    def with_gold(self, labels: int, seed: int) -> Crowd:
        """The classes of so many tasks given as gold, and left out of the truth that is measured."""
        known = np.random.default_rng(seed).permutation(np.flatnonzero(self.truth >= 0))[:labels]
        gold, truth = np.full_like(self.truth, -1), self.truth.copy()
        gold[known], truth[known] = self.truth[known], -1
        return replace(self, votes=replace(self.votes, gold=gold), truth=truth)

    def golden(self, labels: int) -> Iterator[Crowd]:
        """The crowd with gold of some tasks, once for each seed; none if too few tasks would be left."""
        if self.measured >= MIN_TASKS_PER_GOLD_LABEL * labels:
            yield from (self.with_gold(labels, seed) for seed in range(GOLD_SEEDS))


def read_crowd(folder: Path) -> Crowd:
    """The crowd of one set, with all its votes."""
    one = sets.read(folder)
    votes = one.with_repeats("last")
    known = set(map(str, votes.classes.tolist()))
    only_true = sorted({label for label in one.truth.values() if label not in known})
    if only_true:
        columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
        classes = [*map(str, votes.classes.tolist()), *only_true]
        votes = Votes.of(*columns[:2], columns[2].astype(str), classes=classes)
    truth = votes.with_gold(one.truth).gold
    assert truth is not None
    return Crowd(one.name, votes, truth)
