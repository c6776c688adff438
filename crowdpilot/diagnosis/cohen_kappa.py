"""How much every two workers agree on the tasks that both have labelled."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdpilot.arrays import Floats, Names, sum_by
from crowdpilot.diagnosis.tallies import beyond_chance, check_whole
from crowdpilot.metrics.bootstrap import resample
from crowdpilot.votes import Votes

MEETINGS = 10_000_000  # of two votes on the same task, that are looked at together

Integers = NDArray[np.int64]


class Kappas(NamedTuple):
    """A row for each two workers, the two who share most tasks first."""

    worker: Names
    other: Names
    shared: Integers  # tasks that both have labelled
    agreement: Floats  # share of these on which they agree
    kappa: Floats
    low: Floats
    high: Floats


def cohen_kappa(
    votes: Votes,
    *,
    min_shared: int = 10,
    limit: int = 1000,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Kappas:
    """Cohen's kappa of every two workers, with its bootstrap interval over the tasks they share.

    kappa = (p_a - p_e) / (1 - p_e) with p_e = sum_k p_k q_k: the share of the shared tasks on which
    the two agree, and the shares of the classes as each of them uses them there. NaN if both use
    only one and the same class; tasks drawn so are left out of the interval.

    Parameters
    ----------
    votes
        Where a worker has labelled a task again, each of these votes meets each of the other's, and
        such meetings are counted instead of tasks; a vote of weight two is two votes.
    min_shared
        Tasks that two workers must share.
    limit
        Pairs at most: those who share most tasks, and of equals the first by the order of workers.
    level, samples, seed
        As in `agreement`.

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
    check_whole(votes)
    if min_shared < 1 or limit < 1:
        raise ValueError(f"min_shared is {min_shared} and limit is {limit}, expected 1 or more")
    parts = [part.take(_rank(part, min_shared, limit) >= 0) for part in _meet(votes)]
    if not any(len(part.pair) for part in parts):
        none, nothing = votes.workers[:0], np.zeros(0)
        return Kappas(none, none, nothing.astype(np.int64), nothing, nothing, nothing, nothing)
    cells = Cells(*map(np.concatenate, zip(*parts, strict=True)))
    place = _rank(cells, min_shared, limit)
    order = np.lexsort((cells.reply, cells.said, place))[np.count_nonzero(place < 0) :]
    return _compare(votes, cells.take(order), place[order], level, samples, seed)


class Cells(NamedTuple):
    """What two workers said of the same tasks: a row for each pair and two labels."""

    pair: Integers  # codes of both workers in one number
    said: Integers  # label of the first
    reply: Integers  # label of the other
    times: Floats

    def take(self, rows: Any) -> Cells:
        """Some of the rows, or all in another order."""
        return Cells(*(column[rows] for column in self))


def _meet(votes: Votes) -> Iterator[Cells]:
    """What workers said of the same tasks, in parts that fit the memory; no pair is in two of them."""
    K, workers = len(votes.classes), len(votes.workers)
    said = votes.onehot  # (tasks, workers x classes)
    by_worker = said.T.tocsr()
    meetings = votes.worker_sum(votes.task_sum()[votes.task])
    starts = np.flatnonzero(np.diff(meetings.cumsum() // MEETINGS, prepend=-1)).tolist()
    for start, stop in pairwise([*starts, workers]):
        both = (by_worker[start * K : stop * K] @ said).tocoo()
        one, label = np.divmod(both.row + np.int64(start * K), K)
        other, reply = np.divmod(both.col.astype(np.int64), K)
        yield Cells(one * workers + other, label, reply, both.data).take((one < other) & (both.data > 0))


def _rank(cells: Cells, min_shared: int, limit: int) -> Integers:
    """Place of the pair of each cell among those who share most tasks; -1 where it has none."""
    pairs, code = np.unique(cells.pair, return_inverse=True)
    shared = sum_by(code, cells.times, len(pairs))
    best = np.argsort(-shared, kind="stable")[:limit]
    best = best[shared[best] >= min_shared]
    place = np.full(len(pairs), -1)
    place[best] = np.arange(len(best))
    return place[code]


def _compare(votes: Votes, cells: Cells, place: Integers, level: float, samples: int, seed: int) -> Kappas:
    """All pairs side by side: cells of one pair stand together, `place` counts the pairs."""
    sums = _to_sums(cells, place, len(votes.classes))
    found = resample(sums.kappa, sums.counts, level=level, samples=samples, seed=seed)
    first = np.flatnonzero(np.diff(place, prepend=-1))
    one, other = (votes.workers[w] for w in np.divmod(cells.pair[first], len(votes.workers)))
    shared = sums.counts.sum(axis=1)
    agreed = sums.counts.ravel() @ sums.equal / shared
    return Kappas(one, other, shared.astype(np.int64), agreed, *found)


class Sums(NamedTuple):
    """Sparse matrices that sum cells, (pairs x cells, ...); pairs with few cells have empty ones."""

    counts: Floats  # (pairs, cells)
    pair: Any  # by pair
    equal: Any  # those of equal labels by pair
    said: Any  # by pair and label of the first worker
    reply: Any  # by pair and label of the other
    use: Any  # (pairs and labels, pairs)

    def kappa(self, weight: Floats) -> Floats:
        """Cohen's kappa of all pairs, (..., pairs), by how often each cell counts."""
        shared = weight @ self.pair
        chance = ((weight @ self.said) * (weight @ self.reply)) @ self.use / shared**2
        return beyond_chance(weight @ self.equal / shared, chance)


def _to_sums(cells: Cells, place: Integers, K: int) -> Sums:
    size = np.bincount(place)
    pairs, width = len(size), int(size.max())
    left = size.cumsum()[place] - np.arange(len(place))  # cells of the pair from this one on
    slot: Integers = (place + 1) * width - left  # the last ones of the row
    counts = sum_by(slot, cells.times, pairs * width).reshape(pairs, width)

    def add(column: Integers, columns: int, values: Any = 1) -> Any:
        values = np.broadcast_to(values, len(slot)).astype(np.float64)
        return csr_array((values, (slot, column)), (counts.size, columns))

    uses, code = np.unique(
        np.concatenate([place * K + cells.said, place * K + cells.reply]), return_inverse=True
    )
    said, reply = np.split(code, 2)
    n = len(uses)
    use = csr_array((np.ones(n), (np.arange(n), uses // K)), (n, pairs))
    equal = cells.said == cells.reply
    return Sums(counts, add(place, pairs), add(place, pairs, equal), add(said, n), add(reply, n), use)
