"""The classes a task may well have: those that somebody gave it, and the one it is known to have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from crowdpilot.aggregation.sparse.posterior import Beliefs
from crowdpilot.arrays import Codes, Floats, share_best, sum_by, to_probs
from crowdpilot.votes import Votes

DENSE = 2**26  # numbers in an array (tasks, classes) above which candidates alone are kept: 512 MiB
PER_VOTE = 16  # numbers for each vote that are not too many: who holds so many votes has the room
OFTEN = 3  # tasks in which two classes must be candidates for their mistakes to be counted apart
CROWDED = 100  # candidates of a task above which they are not paired: there would be too many pairs


def is_wide(votes: Votes) -> bool:
    """Whether an array (tasks, classes) would be too large for these votes; never for those on a device."""
    most = max(DENSE, PER_VOTE * len(votes))
    return isinstance(votes, Votes) and len(votes.tasks) * len(votes.classes) > most


class Mistakes(NamedTuple):
    """The pairs of classes that are candidates of the same task often: one could be taken for the other."""

    true: NDArray[np.int64]  # (cells,), in the order of a sparse matrix (true, said)
    said: NDArray[np.int64]
    made: csr_array  # (candidates, cells): votes that are this mistake if the candidate is the class
    rare: Floats  # (candidates,): votes that are any other mistake


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate *c* of all: `label[c]` may be the class of `task[c]`; sorted by task, then by label."""

    task: Codes
    label: Codes
    vote: NDArray[np.intp]  # (votes,); the candidate that each vote is for
    weight: Floats  # of the votes for each candidate
    gold: Codes | None
    shape: tuple[int, int]  # tasks, classes

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the candidates of each task begin, and where the last ends."""
        counts = np.bincount(self.task, minlength=self.shape[0])
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

    @cached_property
    def unlisted(self) -> NDArray[np.int64]:
        """How many classes are no candidates of each task."""
        return self.shape[1] - np.diff(self.starts)

    @cached_property
    def excluded(self) -> NDArray[np.bool_]:
        """Candidates that are known not to be the class of their task."""
        if self.gold is None:
            return np.zeros(len(self.task), bool)
        truth = self.gold[self.task]
        wrong: NDArray[np.bool_] = (truth >= 0) & (truth != self.label)
        return wrong

    def tally(self, votes: Votes, value: Floats) -> Floats:
        """Sum over the votes for each candidate: of their weights times a value for each vote."""
        return sum_by(self.vote, votes.weights * value, len(self.task))

    def per_task(self, values: Floats) -> Floats:
        """Sum over the candidates of each task."""
        return sum_by(self.task, values, self.shape[0])

    def highest(self, values: Floats) -> Floats:
        """The highest value among the candidates of each task; minus infinity if there are none."""
        top = np.full(self.shape[0], -np.inf)
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            top[some] = np.maximum.reduceat(values, self.starts[some])
        return top

    def share_best(self, values: Floats, others: Floats | float = 0.0) -> Floats:
        """All probability on the highest value of each task, or on all other classes; equals share it."""
        best = np.maximum(self.highest(values), np.where(self.unlisted > 0, others, -np.inf))
        least = best - 1e-12 * (1 + np.abs(best))
        won = values >= least[self.task]
        equals = self.per_task(won.astype(np.float64)) + np.where(others >= least, self.unlisted, 0)
        shared: Floats = won / equals[self.task]
        return shared

    def clamp(self, values: Floats) -> Floats:
        """The same probabilities, but certain for the tasks whose class is known."""
        if self.gold is None:
            return values
        known = self.gold[self.task] >= 0
        return np.where(known, ~self.excluded, values)

    def to_matrix(self, values: Floats) -> csr_array:
        """A value for each candidate as a sparse matrix (tasks, classes)."""
        return csr_array((values, self.label, self.starts), self.shape)

    def mistakes(self, known: NDArray[np.int64]) -> Mistakes:
        """Every vote for another candidate, as the mistake that it may be.

        Pairs are kept that occur often, or are known: true x classes + said.
        """
        one, other = self._pairs()
        K = self.shape[1]
        pair = self.label[one].astype(np.int64) * K + self.label[other]
        keys, cell, tasks = np.unique(pair, return_inverse=True, return_counts=True)
        often = (tasks >= OFTEN) | np.isin(keys, known)
        kept, number = often[cell], np.cumsum(often) - 1
        cells = one[kept], number[cell[kept]]
        made = coo_array((self.weight[other[kept]], cells), (len(self.task), int(often.sum()))).tocsr()
        rare = self.per_task(self.weight)[self.task] - self.weight - made.sum(axis=1)
        return Mistakes(keys[often] // K, keys[often] % K, made, np.maximum(rare, 0))

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each candidate with each other one of its task that has votes."""
        many = np.diff(self.starts)[self.task]
        many = np.where(many > CROWDED, 0, many)
        one = np.repeat(np.arange(len(self.task), dtype=np.int64), many)
        before = np.cumsum(many) - many
        other = np.arange(len(one)) - np.repeat(before - self.starts[self.task], many)
        kept = (one != other) & (self.weight[other] > 0)
        return one[kept], other[kept]


_found: WeakKeyDictionary[Votes, Candidates] = WeakKeyDictionary()  # as long as the votes live


def candidates(votes: Votes) -> Candidates:
    """The candidates of all tasks; found once for the same votes."""
    if votes not in _found:
        _found[votes] = _find(votes)
    return _found[votes]


def _find(votes: Votes) -> Candidates:
    K = len(votes.classes)
    keys = votes.task.astype(np.int64) * K + votes.label
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold >= 0)
        keys = np.concatenate([keys, known * K + votes.gold[known]])
    keys, place = np.unique(keys, return_inverse=True)
    task, label = np.divmod(keys, K)
    vote = place[: len(votes)]
    weight = sum_by(vote, votes.weights, len(keys))
    shape = len(votes.tasks), K
    return Candidates(task.astype(np.int32), label.astype(np.int32), vote, weight, votes.gold, shape)


def vote_shares(votes: Votes, value: Floats | None = None) -> Beliefs:
    """The share of each class among the votes of each task, gold where it is known.

    A vote counts as much as its weight, times its value if there is one.
    """
    if not is_wide(votes):
        return votes.clamp(to_probs(votes.tally(value)))
    found = candidates(votes)
    tally = found.weight if value is None else found.tally(votes, value)
    total = votes.task_sum(value)[found.task]
    share = np.divide(tally, total, out=np.full(len(tally), 1 / found.shape[1]), where=total != 0)
    return found.to_matrix(found.clamp(share))


def winners(votes: Votes, value: Floats | None = None) -> Beliefs:
    """All probability on the class with most votes, gold where it is known; equals share it."""
    if not is_wide(votes):
        return votes.clamp(share_best(votes.tally(value)))
    found = candidates(votes)
    tally = found.weight if value is None else found.tally(votes, value)
    return found.to_matrix(found.clamp(found.share_best(tally)))
