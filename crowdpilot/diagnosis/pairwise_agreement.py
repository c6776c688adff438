"""Pairwise agreement: Cohen's kappa of every two workers on the tasks that both have labelled."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdpilot.arrays import Floats, Names, sum_by
from crowdpilot.diagnosis.vote_patterns import chance_corrected, check_whole
from crowdpilot.io import as_votes
from crowdpilot.metrics.bootstrap import resample
from crowdpilot.votes import Votes

MAX_VOTE_PAIRS_PER_BLOCK = 10_000_000  # two votes on the same task; compared together

Integers = NDArray[np.int64]


class PairwiseKappa(NamedTuple):
    """A row for each pair of workers, (pairs,) each; the pair that shares most tasks first."""

    worker: Names
    other: Names
    shared: Integers  # tasks that both have labelled
    agreement: Floats  # share of these on which they agree
    kappa: Floats
    low: Floats  # bounds of the interval
    high: Floats


def cohen_kappa(
    votes: Any,
    *,
    min_shared: int = 10,
    limit: int = 1000,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> PairwiseKappa:
    """Cohen's kappa of every two workers, with its bootstrap interval over the tasks they share.

    kappa = (p_a - p_e) / (1 - p_e) with p_e = sum_k p_k q_k: the share of the shared tasks on which
    the two agree, and the shares of the classes as each of them uses them there. NaN if both use
    only one and the same class; bootstrap samples with such tasks are left out of the interval.

    Parameters
    ----------
    votes
        Votes of any kind. Where a worker has labelled a task again, each of these votes is paired with each
        of the other's, and such pairs are counted instead of tasks; a vote of weight two is two votes.
    min_shared
        Tasks that two workers must share.
    limit
        Pairs at most: those who share most tasks; ties are broken by the order of workers.
    level, samples, seed
        As in `measure_agreement`.

    References
    ----------
    Cohen, Educational and Psychological Measurement 20(1), 1960.

    Examples
    --------
    >>> votes = Votes.of([1, 1, 2, 2, 3, 3, 4, 4], list("xyxyxyxy"), list("aaabbbbb"))
    >>> pairs = cohen_kappa(votes, min_shared=2)
    >>> pairs.worker.tolist(), pairs.other.tolist(), pairs.shared.tolist(), pairs.kappa.tolist()
    (['x'], ['y'], [4], [0.5])
    """
    votes = as_votes(votes)
    check_whole(votes)
    if min_shared < 1 or limit < 1:
        raise ValueError(f"min_shared is {min_shared} and limit is {limit}, expected 1 or more")
    parts = [part.take(_pair_ranks(part, min_shared, limit) >= 0) for part in _shared_labels(votes)]
    if not any(len(part.pair) for part in parts):
        none, nothing = votes.workers[:0], np.zeros(0)
        return PairwiseKappa(none, none, nothing.astype(np.int64), nothing, nothing, nothing, nothing)
    cells = ContingencyCells(*map(np.concatenate, zip(*parts, strict=True)))
    rank = _pair_ranks(cells, min_shared, limit)
    order = np.lexsort((cells.other_label, cells.label, rank))[np.count_nonzero(rank < 0) :]
    return _compare(votes, cells.take(order), rank[order], level, samples, seed)


class ContingencyCells(NamedTuple):
    """Contingency tables of pairs of workers: a row for each pair and each two labels."""

    pair: Integers  # codes of both workers in one number
    label: Integers  # of the first worker
    other_label: Integers
    tasks: Floats  # number of tasks

    def take(self, rows: Any) -> ContingencyCells:
        """Some of the rows, or all in another order."""
        return ContingencyCells(*(column[rows] for column in self))


def _shared_labels(votes: Votes) -> Iterator[ContingencyCells]:
    """The labels of every two workers on the same tasks, in blocks that fit the memory; no pair is in two."""
    K, workers = len(votes.classes), len(votes.workers)
    onehot = votes.onehot  # (tasks, workers x classes)
    by_worker = onehot.T.tocsr()
    vote_pairs = votes.worker_sum(votes.task_sum()[votes.task])
    starts = np.flatnonzero(np.diff(vote_pairs.cumsum() // MAX_VOTE_PAIRS_PER_BLOCK, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, workers]):
        both = (by_worker[start * K : stop * K] @ onehot).tocoo()
        one, label = np.divmod(both.row + np.int64(start * K), K)
        other, other_label = np.divmod(both.col.astype(np.int64), K)
        yield ContingencyCells(one * workers + other, label, other_label, both.data).take(
            (one < other) & (both.data > 0)
        )


def _pair_ranks(cells: ContingencyCells, min_shared: int, limit: int) -> Integers:
    """Rank of the pair of each cell by the tasks they share, (cells,); -1 beyond the limit."""
    pairs, code = np.unique(cells.pair, return_inverse=True)
    shared = sum_by(code, cells.tasks, len(pairs))
    best = np.argsort(-shared, kind="stable")[:limit]
    best = best[shared[best] >= min_shared]
    rank = np.full(len(pairs), -1)
    rank[best] = np.arange(len(best))
    return rank[code]


def _compare(
    votes: Votes, cells: ContingencyCells, rank: Integers, level: float, samples: int, seed: int
) -> PairwiseKappa:
    """Kappa of all pairs; `cells` are sorted by `rank`, the number of their pair."""
    sums = _to_sums(cells, rank, len(votes.classes))
    intervals = resample(sums.kappa, sums.counts, level=level, samples=samples, seed=seed)
    first = np.flatnonzero(np.diff(rank, prepend=-1))
    one, other = (votes.workers[w] for w in np.divmod(cells.pair[first], len(votes.workers)))
    shared = sums.counts.sum(axis=1)
    agreed = sums.counts.ravel() @ sums.equal / shared
    return PairwiseKappa(one, other, shared.astype(np.int64), agreed, *intervals)


class CellSums(NamedTuple):
    """Sparse matrices that sum cells, (pairs x cells, ...); rows of pairs with few cells are padded."""

    counts: Floats  # (pairs, cells)
    pair: Any  # by pair
    equal: Any  # those of equal labels by pair
    label: Any  # by pair and label of the first worker
    other_label: Any  # by pair and label of the other
    to_pairs: Any  # (pairs and labels, pairs)

    def kappa(self, weight: Floats) -> Floats:
        """Cohen's kappa of all pairs, (..., pairs), given the weight of each cell, (..., pairs x cells)."""
        shared = weight @ self.pair
        chance = ((weight @ self.label) * (weight @ self.other_label)) @ self.to_pairs / shared**2
        return chance_corrected(weight @ self.equal / shared, chance)


def _to_sums(cells: ContingencyCells, rank: Integers, K: int) -> CellSums:
    """The matrices for cells that are sorted by the rank of their pair."""
    size = np.bincount(rank)
    pairs, width = len(size), int(size.max())
    left = size.cumsum()[rank] - np.arange(len(rank))  # cells of the pair from this one on
    slot: Integers = (rank + 1) * width - left  # at the end of the row
    counts = sum_by(slot, cells.tasks, pairs * width).reshape(pairs, width)

    def add(column: Integers, columns: int, values: Any = 1) -> Any:
        values = np.broadcast_to(values, len(slot)).astype(np.float64)
        return csr_array((values, (slot, column)), (counts.size, columns))

    label_pairs, code = np.unique(
        np.concatenate([rank * K + cells.label, rank * K + cells.other_label]), return_inverse=True
    )
    label, other_label = np.split(code, 2)
    n = len(label_pairs)
    to_pairs = csr_array((np.ones(n), (np.arange(n), label_pairs // K)), (n, pairs))
    equal = cells.label == cells.other_label
    return CellSums(
        counts, add(rank, pairs), add(rank, pairs, equal), add(label, n), add(other_label, n), to_pairs
    )
