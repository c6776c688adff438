"""Candidate classes of each task: those that somebody voted for, and the gold label."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from crowdpilot.aggregation.sparse.posterior import Posterior
from crowdpilot.arrays import Codes, Floats, share_best, sum_by, to_probs
from crowdpilot.votes import Votes

MAX_DENSE_CELLS = 2**26  # numbers in an array (tasks, classes) above which the posterior is sparse: 512 MiB
DENSE_CELLS_PER_VOTE = 16  # a dense array of that size is no problem beside the votes in memory
MIN_TASKS_PER_PAIR = 3  # tasks in which two classes must be candidates to have a parameter of their own
MAX_PAIRED_CANDIDATES = 100  # a task with more candidates is not used for pairs: there would be too many


def needs_sparse(votes: Votes) -> bool:
    """Whether an array (tasks, classes) would be too large for these votes; never for those on a device."""
    limit = max(MAX_DENSE_CELLS, DENSE_CELLS_PER_VOTE * len(votes))
    return isinstance(votes, Votes) and len(votes.tasks) * len(votes.classes) > limit


class ConfusedPairs(NamedTuple):
    """Pairs of classes that are candidates of the same task in several tasks: often confused classes."""

    true: NDArray[np.int64]  # (pairs,), in the order of a sparse matrix (true, said)
    said: NDArray[np.int64]  # (pairs,)
    weight: csr_array  # (candidates, pairs): weight of votes that are this mistake if the candidate is true
    other_weight: Floats  # (candidates,): weight of votes that are any other mistake


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate *c*: `label[c]` may be the class of `task[c]`; sorted by task, then by label."""

    task: Codes
    label: Codes
    vote: NDArray[np.intp]  # (votes,): the candidate that each vote is for
    weight: Floats  # (candidates,): weight of the votes for each
    gold: Codes | None
    shape: tuple[int, int]  # tasks, classes

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the candidates of each task begin, and where the last ends."""
        counts = np.bincount(self.task, minlength=self.shape[0])
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])

    @cached_property
    def unlisted(self) -> NDArray[np.int64]:
        """Number of classes that are not candidates of each task, (tasks,)."""
        return self.shape[1] - np.diff(self.starts)

    @cached_property
    def excluded(self) -> NDArray[np.bool_]:
        """Whether the gold label of the task rules out each candidate, (candidates,)."""
        if self.gold is None:
            return np.zeros(len(self.task), bool)
        truth = self.gold[self.task]
        wrong: NDArray[np.bool_] = (truth >= 0) & (truth != self.label)
        return wrong

    def tally(self, votes: Votes, value: Floats) -> Floats:
        """Sum over the votes for each candidate of weight times value, (candidates,)."""
        return sum_by(self.vote, votes.weights * value, len(self.task))

    def per_task(self, values: Floats) -> Floats:
        """Sum over the candidates of each task, (tasks,)."""
        return sum_by(self.task, values, self.shape[0])

    def per_task_max(self, values: Floats) -> Floats:
        """Maximum over the candidates of each task, (tasks,); minus infinity if there are none."""
        top = np.full(self.shape[0], -np.inf)
        some = np.flatnonzero(np.diff(self.starts))
        if len(some):
            top[some] = np.maximum.reduceat(values, self.starts[some])
        return top

    def share_best(self, values: Floats, others: Floats | float = 0.0) -> Floats:
        """All probability on the highest value of each task, divided between equal ones.

        `others` is the value of each class that is not a candidate.
        """
        best = np.maximum(self.per_task_max(values), np.where(self.unlisted > 0, others, -np.inf))
        threshold = best - 1e-12 * (1 + np.abs(best))
        wins = values >= threshold[self.task]
        n_best = self.per_task(wins.astype(np.float64)) + np.where(others >= threshold, self.unlisted, 0)
        shared: Floats = wins / n_best[self.task]
        return shared

    def clamp(self, values: Floats) -> Floats:
        """The same probabilities, but one on the gold label of each task that has one."""
        if self.gold is None:
            return values
        known = self.gold[self.task] >= 0
        return np.where(known, ~self.excluded, values)

    def to_matrix(self, values: Floats) -> csr_array:
        """A value for each candidate as a sparse matrix (tasks, classes)."""
        return csr_array((values, self.label, self.starts), self.shape)

    def confused_pairs(self, known: NDArray[np.int64]) -> ConfusedPairs:
        """Every vote for another candidate of the task, as the mistake that it may be.

        Pairs are kept that occur in several tasks, or are `known`: true x classes + said.
        """
        one, other = self._pairs()
        K = self.shape[1]
        pair = self.label[one].astype(np.int64) * K + self.label[other]
        keys, key, n_tasks = np.unique(pair, return_inverse=True, return_counts=True)
        frequent = (n_tasks >= MIN_TASKS_PER_PAIR) | np.isin(keys, known)
        kept, number = frequent[key], np.cumsum(frequent) - 1
        cells = one[kept], number[key[kept]]
        shape = len(self.task), int(frequent.sum())
        weight = coo_array((self.weight[other[kept]], cells), shape).tocsr()
        other_weight = self.per_task(self.weight)[self.task] - self.weight - weight.sum(axis=1)
        return ConfusedPairs(keys[frequent] // K, keys[frequent] % K, weight, np.maximum(other_weight, 0))

    def _pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each candidate with each other one of its task that has votes."""
        partners = np.diff(self.starts)[self.task]
        partners = np.where(partners > MAX_PAIRED_CANDIDATES, 0, partners)
        one = np.repeat(np.arange(len(self.task), dtype=np.int64), partners)
        before = np.cumsum(partners) - partners
        other = np.arange(len(one)) - np.repeat(before - self.starts[self.task], partners)
        kept = (one != other) & (self.weight[other] > 0)
        return one[kept], other[kept]


_cache: WeakKeyDictionary[Votes, Candidates] = WeakKeyDictionary()  # as long as the votes live


def find_candidates(votes: Votes) -> Candidates:
    """The candidates of all tasks; computed once for the same votes."""
    if votes not in _cache:
        _cache[votes] = _find(votes)
    return _cache[votes]


def _find(votes: Votes) -> Candidates:
    K = len(votes.classes)
    keys = votes.task.astype(np.int64) * K + votes.label
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold >= 0)
        keys = np.concatenate([keys, known * K + votes.gold[known]])
    keys, inverse = np.unique(keys, return_inverse=True)
    task, label = np.divmod(keys, K)
    vote = inverse[: len(votes)]
    weight = sum_by(vote, votes.weights, len(keys))
    shape = len(votes.tasks), K
    return Candidates(task.astype(np.int32), label.astype(np.int32), vote, weight, votes.gold, shape)


def vote_shares(votes: Votes, value: Floats | None = None) -> Posterior:
    """The share of each class among the votes of each task, one on the gold label where there is one.

    A vote counts as much as its weight, times its value if there is one.
    """
    if not needs_sparse(votes):
        return votes.clamp(to_probs(votes.tally(value)))
    candidates = find_candidates(votes)
    tally = candidates.weight if value is None else candidates.tally(votes, value)
    total = votes.task_sum(value)[candidates.task]
    share = np.divide(tally, total, out=np.full(len(tally), 1 / candidates.shape[1]), where=total != 0)
    return candidates.to_matrix(candidates.clamp(share))


def majority_posterior(votes: Votes, value: Floats | None = None) -> Posterior:
    """All probability on the class with most votes, divided between tied ones; gold where it is known."""
    if not needs_sparse(votes):
        return votes.clamp(share_best(votes.tally(value)))
    candidates = find_candidates(votes)
    tally = candidates.weight if value is None else candidates.tally(votes, value)
    return candidates.to_matrix(candidates.clamp(candidates.share_best(tally)))
