"""Who answers together: pairs that agree more than their skills explain."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, triu
from scipy.sparse.csgraph import connected_components

from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.diagnosis.false_discoveries import Flags, by_e
from crowdpilot.diagnosis.leave_one_out import TINY, Evidence

COPIED = (0.4, 0.7, 0.95)  # share of the answers that colluders may have in common
USUAL = np.array([0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4])  # and that others may
SHRUNK = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1e6)  # votes that the model may count for in a task
RARE = 0.5  # a label less likely than this is a surprise
SURPRISES = 2  # that a pair must share to be looked at
CELLS = 2**23  # votes of pairs looked at together


class Collusion(NamedTuple):
    """Who colludes with whom."""

    flags: Flags  # (workers,)
    group: Codes  # (workers,); code of the group, -1 for the others
    evidence: Floats  # (workers,); log10 of the likelihood ratio of their most suspect pair, 0 if none
    pairs: Pairs  # those looked at, the most suspect first


class Pairs(NamedTuple):
    """Pairs of workers who share surprising labels."""

    first: Codes  # (pairs,)
    second: Codes  # (pairs,); above `first`
    met: NDArray[np.int64]  # (pairs,); tasks that both voted on
    same: NDArray[np.int64]  # (pairs,); where they gave the same label
    ratio: Floats  # (pairs,); log10 of how many times likelier their votes are if one copies

    def take(self, rows: NDArray[np.integer]) -> Pairs:
        """Some of the pairs."""
        return Pairs(*(column[rows] for column in self))


def collusion(evidence: Evidence, share: float = 0.05) -> Collusion:
    """Groups of workers who give the same answers, with few false ones among those flagged.

    If worker a copies from b with probability c, then a gives b's label with probability
    (1 - c) p + c instead of p, where p is how likely the label was for a: by a's confusion matrix
    and the votes of all others, b's too. The ratio of both, multiplied over all tasks where they met
    and averaged over some values of c, has mean one for honest workers (an e-value) and is large
    for colluders, above all where they err alike. Tasks that mislead everyone make honest workers
    agree too: the usual c of each worker with all the others is estimated first, and a pair has
    to exceed it. The mean over the partners of a worker is an e-value again, and flags are given
    by it so that at most a share is false, however the pairs depend on each other.

    Only pairs that share at least two labels that were not to be expected are looked at; the
    others count as no evidence. Largest array: (workers, workers), sparse, of such pairs.

    Parameters
    ----------
    evidence
        Of the votes.
    share
        Of false flags among all flags, at most, on average.
    """
    W, evidence = len(evidence.votes.workers), _once(evidence)
    foreseen = _foreseen(evidence)
    pairs = _compare(evidence, foreseen, *_candidates(evidence, foreseen))
    pairs = pairs.take(np.argsort(-pairs.ratio, kind="stable"))
    ratio = 10 ** np.minimum(pairs.ratio, 300)
    partners = np.minimum(W - 1, evidence.votes.task_sum()[evidence.votes.task] - 1)
    met = np.minimum(W - 1, np.bincount(evidence.votes.worker, partners, W))  # at most so many
    total = np.bincount(pairs.first, ratio, W) + np.bincount(pairs.second, ratio, W)
    flags = by_e(divide(total, met), share)
    worst = np.zeros(W)
    for worker in (pairs.first, pairs.second):
        np.maximum.at(worst, worker, pairs.ratio)
    return Collusion(flags, _group(flags, pairs, W), worst, pairs)


def _once(evidence: Evidence) -> Evidence:
    """The same with every label that a worker gives to a task counted once, however often and heavily."""
    votes = evidence.votes
    counted = np.flatnonzero(votes.weights > 0)
    place = votes.task[counted].astype(np.int64) * (len(votes.workers) * len(votes.classes))
    rows = counted[np.unique(place + votes.cell[counted], return_index=True)[1]]
    return replace(evidence, votes=replace(votes.take(rows), weight=None), others=evidence.others[rows])


def _foreseen(evidence: Evidence) -> Floats:
    """How likely each label was by all votes but those of its worker, (votes,).

    A blend of what the worker's matrix says and of what the others said of the task; how much the
    second counts is what foretells the votes best.
    """
    votes = evidence.votes
    said = evidence.confusion[votes.worker, :, votes.label]  # (votes, true)
    model = (evidence.others * said).sum(axis=1)
    tally = votes.tally()
    count, same = tally.sum(axis=1)[votes.task] - 1, tally[votes.task, votes.label] - 1
    blends = [np.maximum((same + s * model) / (count + s), TINY) for s in SHRUNK]
    return max(blends, key=lambda blend: float(np.log(blend).sum()))


def _candidates(evidence: Evidence, foreseen: Floats) -> tuple[Codes, Codes]:
    """Pairs of workers with enough surprising labels in common."""
    rare = _ballots(evidence, np.ones(len(foreseen)), foreseen < RARE)
    common = triu(rare.T @ rare, 1).tocoo()
    enough = common.data >= SURPRISES
    return common.row[enough].astype(np.int32), common.col[enough].astype(np.int32)


def _compare(evidence: Evidence, foreseen: Floats, a: Codes, b: Codes) -> Pairs:
    """The likelihood ratio of every pair, over all tasks where they met."""
    votes, W = evidence.votes, len(evidence.votes.workers)
    usual = _usual(evidence, 1 / foreseen - 1)
    one = np.ones(len(votes))
    seen = coo_array((one, (votes.task, votes.worker)), (len(votes.tasks), W)).tocsc()
    said = _ballots(evidence, one)
    gain = [_ballots(evidence, _log_ratio(c, usual[votes.worker], foreseen)) for c in COPIED]
    loss = [np.log1p(-c) - np.log1p(-usual) for c in COPIED]  # (workers,) each, where they differ
    met, same, ratio = np.zeros((3, len(a)))
    step = max(1, CELLS // max(1, int(evidence.worker_votes.max(initial=1))))
    for start in range(0, len(a), step):
        rows = slice(start, start + step)
        i, j = a[rows], b[rows]
        met[rows], same[rows] = _shared(seen[:, i], seen[:, j]), _shared(said[:, i], said[:, j])
        logs = [
            (_shared(g[:, i], said[:, j]) + _shared(said[:, i], g[:, j])) / 2
            + (met[rows] - same[rows]) * (less[i] + less[j]) / 2
            for g, less in zip(gain, loss, strict=True)
        ]
        ratio[rows] = np.logaddexp.reduce(logs) - np.log(len(COPIED))
    return Pairs(a, b, met.astype(np.int64), same.astype(np.int64), ratio / np.log(10))


def _usual(evidence: Evidence, odds: Floats) -> Floats:
    """The c of each worker with all the others that fits best, at least that of all workers, (workers,)."""
    votes = evidence.votes
    tally = votes.tally()
    same = tally[votes.task, votes.label] - 1
    other = tally.sum(axis=1)[votes.task] - 1 - same
    fits = [
        np.bincount(votes.worker, same * np.log1p(c * odds) + other * np.log1p(-c), len(votes.workers))
        for c in USUAL
    ]
    everyone = USUAL[np.argmax(np.sum(fits, axis=1))]
    usual: Floats = np.maximum(USUAL[np.argmax(fits, axis=0)], everyone)
    return usual


def _log_ratio(c: float, usual: Floats, foreseen: Floats) -> Floats:
    """How much likelier an equal label is if copied with probability c instead of the usual one, (votes,)."""
    odds = 1 / foreseen - 1
    ratio: Floats = np.log1p(c * odds) - np.log1p(usual * odds)
    return ratio


def _ballots(evidence: Evidence, value: Floats, some: Flags | None = None) -> csc_array:
    """Sparse (tasks x classes, workers): a value where a worker gave a label to a task."""
    votes, K = evidence.votes, len(evidence.votes.classes)
    rows = votes.task.astype(np.int64) * K + votes.label
    kept = slice(None) if some is None else some
    cells = rows[kept], votes.worker[kept]
    return coo_array((value[kept], cells), (len(votes.tasks) * K, len(votes.workers))).tocsc()


def _shared(a: csc_array, b: csc_array) -> Floats:
    """Sum of the products of two matrices, by column."""
    return np.asarray(a.multiply(b).sum(axis=0), np.float64)


def _group(flags: Flags, pairs: Pairs, workers: int) -> Codes:
    """Number the groups of flagged workers who are linked by a pair with much evidence, largest first."""
    linked = flags[pairs.first] & flags[pairs.second] & (pairs.ratio > np.log10(max(workers, 10)))
    edges = (np.ones(int(linked.sum())), (pairs.first[linked], pairs.second[linked]))
    _, part = connected_components(coo_array(edges, (workers, workers)), directed=False)
    group = np.full(workers, -1, np.int32)
    parts, size = np.unique(part[flags], return_counts=True)
    rank = {p: n for n, p in enumerate(parts[np.argsort(-size, kind="stable")].tolist())}
    group[flags] = [rank[p] for p in part[flags].tolist()]
    return group
