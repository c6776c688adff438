"""Collusion: pairs of workers who agree more often than their skills explain, by likelihood ratios."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, triu
from scipy.sparse.csgraph import connected_components

from crowdpilot.aggregation.workers.confusion import MIN_PROBABILITY
from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.diagnosis.false_discovery_rate import Flags, e_benjamini_hochberg
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut

COPY_RATES = (0.4, 0.7, 0.95)  # share of copied answers, of workers who collude
BASE_COPY_RATES = np.array([0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4])  # and of others
MODEL_PSEUDO_VOTES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1e6)  # weights of the model, tried in turn
MAX_SURPRISING_PROBABILITY = 0.5  # a label less likely than this is surprising
MIN_SHARED_SURPRISES = 2  # surprising labels that a pair must share to be examined
MAX_CELLS_PER_BLOCK = 2**23  # votes of pairs examined together


class Collusion(NamedTuple):
    """Which workers collude, and with whom."""

    flags: Flags  # (workers,)
    group: Codes  # (workers,); code of the group, -1 for the others
    log10_ratio: Floats  # (workers,); largest log10 likelihood ratio of their pairs, 0 if they have none
    pairs: WorkerPairs  # those examined, the largest ratio first


class WorkerPairs(NamedTuple):
    """Pairs of workers who share surprising labels."""

    first: Codes  # (pairs,)
    second: Codes  # (pairs,); above `first`
    shared_tasks: NDArray[np.int64]  # (pairs,); tasks that both voted on
    same_labels: NDArray[np.int64]  # (pairs,); tasks to which both gave the same label
    log10_ratio: Floats  # (pairs,); log10 likelihood ratio of copying against independence

    def take(self, rows: NDArray[np.integer]) -> WorkerPairs:
        """Some of the pairs."""
        return WorkerPairs(*(column[rows] for column in self))


def detect_collusion(loo: LeaveOneOut, rate: float = 0.05) -> Collusion:
    """Flag groups of workers who give the same answers, at a false discovery rate.

    If worker a copies from b with probability c, then a gives b's label with probability
    (1 - c) p + c instead of p, where p is how likely the label was for a: by a's confusion matrix
    and the votes of all others, b's too. The ratio of both, multiplied over all tasks that both
    voted on and averaged over `COPY_RATES`, is an e-value: its mean is one for honest workers. It is
    large for workers who collude, most of all where they make the same mistakes. Tasks that mislead
    everyone make honest workers agree too: the base copy rate c of each worker with all the others
    is estimated first, and a pair has to exceed it. The mean over the partners of a worker is an
    e-value again, and the e-BH procedure flags workers, however the pairs depend on each other.

    Only pairs that share at least two surprising labels are examined; the ratio of all others
    counts as zero. Largest array: (workers, workers), sparse, of such pairs.

    Parameters
    ----------
    loo
        Leave-one-out posteriors of the votes.
    rate
        False discovery rate: expected share of false flags among all flags, at most.
    """
    W, loo = len(loo.votes.workers), _without_repeats(loo)
    likelihood = _label_likelihood(loo)
    pairs = _compare(loo, likelihood, *_candidates(loo, likelihood))
    pairs = pairs.take(np.argsort(-pairs.log10_ratio, kind="stable"))
    ratio = 10 ** np.minimum(pairs.log10_ratio, 300)
    co_votes = np.minimum(W - 1, loo.votes.task_sum()[loo.votes.task] - 1)
    partners = np.minimum(W - 1, np.bincount(loo.votes.worker, co_votes, W))  # an upper bound
    total = np.bincount(pairs.first, ratio, W) + np.bincount(pairs.second, ratio, W)
    flags = e_benjamini_hochberg(divide(total, partners), rate)
    largest = np.zeros(W)
    for worker in (pairs.first, pairs.second):
        np.maximum.at(largest, worker, pairs.log10_ratio)
    return Collusion(flags, _number_groups(flags, pairs, W), largest, pairs)


def _without_repeats(loo: LeaveOneOut) -> LeaveOneOut:
    """The same with every label that a worker gives to a task counted once, whatever its weight."""
    votes = loo.votes
    counted = np.flatnonzero(votes.weights > 0)
    cell = votes.task[counted].astype(np.int64) * (len(votes.workers) * len(votes.classes))
    rows = counted[np.unique(cell + votes.cell[counted], return_index=True)[1]]
    return replace(loo, votes=replace(votes.take(rows), weight=None), posterior=loo.posterior[rows])


def _label_likelihood(loo: LeaveOneOut) -> Floats:
    """Probability of each label, given all votes but those of its worker, (votes,).

    A blend of the worker's confusion matrix and of the votes of the others on the task; the weight of
    the matrix maximizes the log-likelihood of the votes.
    """
    votes = loo.votes
    p_label = loo.confusion[votes.worker, :, votes.label]  # (votes, true)
    model = (loo.posterior * p_label).sum(axis=1)
    tally = votes.tally()
    count, same = tally.sum(axis=1)[votes.task] - 1, tally[votes.task, votes.label] - 1
    blends = [np.maximum((same + s * model) / (count + s), MIN_PROBABILITY) for s in MODEL_PSEUDO_VOTES]
    return max(blends, key=lambda blend: float(np.log(blend).sum()))


def _candidates(loo: LeaveOneOut, likelihood: Floats) -> tuple[Codes, Codes]:
    """Pairs of workers with enough surprising labels in common, (pairs,) each."""
    surprising = _by_label(loo, np.ones(len(likelihood)), likelihood < MAX_SURPRISING_PROBABILITY)
    shared = triu(surprising.T @ surprising, 1).tocoo()
    enough = shared.data >= MIN_SHARED_SURPRISES
    return shared.row[enough].astype(np.int32), shared.col[enough].astype(np.int32)


def _compare(loo: LeaveOneOut, likelihood: Floats, a: Codes, b: Codes) -> WorkerPairs:
    """The likelihood ratio of every pair, over all tasks that both voted on."""
    votes, W = loo.votes, len(loo.votes.workers)
    base = _base_copy_rates(loo, 1 / likelihood - 1)
    one = np.ones(len(votes))
    voted = coo_array((one, (votes.task, votes.worker)), (len(votes.tasks), W)).tocsc()
    labels = _by_label(loo, one)
    gain = [_by_label(loo, _log_ratio(c, base[votes.worker], likelihood)) for c in COPY_RATES]
    loss = [np.log1p(-c) - np.log1p(-base) for c in COPY_RATES]  # (workers,) each, where labels differ
    shared, same, ratio = np.zeros((3, len(a)))
    step = max(1, MAX_CELLS_PER_BLOCK // max(1, int(loo.worker_votes.max(initial=1))))
    for start in range(0, len(a), step):
        rows = slice(start, start + step)
        i, j = a[rows], b[rows]
        shared[rows] = _column_products(voted[:, i], voted[:, j])
        same[rows] = _column_products(labels[:, i], labels[:, j])
        logs = [
            (_column_products(g[:, i], labels[:, j]) + _column_products(labels[:, i], g[:, j])) / 2
            + (shared[rows] - same[rows]) * (less[i] + less[j]) / 2
            for g, less in zip(gain, loss, strict=True)
        ]
        ratio[rows] = np.logaddexp.reduce(logs) - np.log(len(COPY_RATES))
    return WorkerPairs(a, b, shared.astype(np.int64), same.astype(np.int64), ratio / np.log(10))


def _base_copy_rates(loo: LeaveOneOut, odds: Floats) -> Floats:
    """Maximum-likelihood copy rate of each worker with all others, at least that of the crowd, (workers,)."""
    votes = loo.votes
    tally = votes.tally()
    same = tally[votes.task, votes.label] - 1
    other = tally.sum(axis=1)[votes.task] - 1 - same
    log_likelihood = [
        np.bincount(votes.worker, same * np.log1p(c * odds) + other * np.log1p(-c), len(votes.workers))
        for c in BASE_COPY_RATES
    ]
    crowd_rate = BASE_COPY_RATES[np.argmax(np.sum(log_likelihood, axis=1))]
    rates: Floats = np.maximum(BASE_COPY_RATES[np.argmax(log_likelihood, axis=0)], crowd_rate)
    return rates


def _log_ratio(c: float, base: Floats, likelihood: Floats) -> Floats:
    """Log-likelihood ratio of an equal label at copy rate c against the base rate, (votes,)."""
    odds = 1 / likelihood - 1
    ratio: Floats = np.log1p(c * odds) - np.log1p(base * odds)
    return ratio


def _by_label(loo: LeaveOneOut, value: Floats, rows: Flags | None = None) -> csc_array:
    """Sparse (tasks x classes, workers): a value where a worker gave a label to a task."""
    votes, K = loo.votes, len(loo.votes.classes)
    cell = votes.task.astype(np.int64) * K + votes.label
    some = slice(None) if rows is None else rows
    return coo_array(
        (value[some], (cell[some], votes.worker[some])), (len(votes.tasks) * K, len(votes.workers))
    ).tocsc()


def _column_products(a: csc_array, b: csc_array) -> Floats:
    """Inner product of each column of two matrices, (columns,)."""
    return np.asarray(a.multiply(b).sum(axis=0), np.float64)


def _number_groups(flags: Flags, pairs: WorkerPairs, workers: int) -> Codes:
    """Connected components of the flagged workers, linked by pairs with a large ratio; the largest is 0."""
    linked = flags[pairs.first] & flags[pairs.second] & (pairs.log10_ratio > np.log10(max(workers, 10)))
    edges = (np.ones(int(linked.sum())), (pairs.first[linked], pairs.second[linked]))
    _, component = connected_components(coo_array(edges, (workers, workers)), directed=False)
    group = np.full(workers, -1, np.int32)
    components, size = np.unique(component[flags], return_counts=True)
    rank = {c: n for n, c in enumerate(components[np.argsort(-size, kind="stable")].tolist())}
    group[flags] = [rank[c] for c in component[flags].tolist()]
    return group
