"""Agreement between pairs of workers on their common tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

MAX_PAIRS = 20_000_000  # of workers with a common task; they take about 100 bytes each


class AgreementCounts(NamedTuple):
    """Sufficient statistics of the votes; the last worker is the teacher, who gives the gold labels."""

    agreed: Any  # sparse (workers + 1, workers + 1): tasks on which two workers gave the same label
    shared: Any  # sparse, same shape: tasks they both labelled
    vote_weight: Floats  # (workers + 1,)


class Pairs(NamedTuple):
    """Pairs of different workers with a task in common, each both ways, sorted by `one`."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    excess: Floats  # agreement above chance, one at most
    shared: Floats


def excess(expected_accuracy: Floats, K: int) -> Floats:
    """Agreement above chance: 0 for guessing, 1 for always."""
    return (K * expected_accuracy - 1) / (K - 1)


def count_agreements(votes: Votes) -> AgreementCounts:
    """How often each pair of workers labelled the same task, and agreed there."""
    votes = with_teacher(votes)
    tasks, workers = len(votes.tasks), len(votes.workers)
    pairs = int((np.bincount(votes.task).astype(np.int64) ** 2).sum())
    if min(pairs, workers**2) > MAX_PAIRS:
        raise ValueError(
            f"{workers} workers share tasks in up to {min(pairs, workers**2)} pairs, and mmsr can compare "
            f"{MAX_PAIRS} at most; take another model"
        )
    shared = coo_array((votes.weights, (votes.task, votes.worker)), (tasks, workers)).tocsr()
    return AgreementCounts(votes.ballots.T @ votes.ballots, shared.T @ shared, votes.worker_sum())


def with_teacher(votes: Votes) -> Votes:
    """The same votes and those of one more worker, the teacher, who gives the gold labels."""
    gold = np.full(len(votes.tasks), -1) if votes.gold is None else votes.gold
    known = np.flatnonzero(gold >= 0)
    return replace(
        votes,
        task=np.concatenate([votes.task, known]),
        worker=np.concatenate([votes.worker, np.full(len(known), len(votes.workers))]),
        label=np.concatenate([votes.label, gold[known]]),
        weight=np.concatenate([votes.weights, np.ones(len(known))]),
        workers=np.arange(len(votes.workers) + 1),
    )


def add_history(votes: Votes, counts: AgreementCounts, history: Aggregate) -> AgreementCounts:
    """These counts plus those of an earlier result; workers known only there come after these."""
    here = len(votes.workers)
    known = votes.index("workers", history.votes.workers)
    new = known < 0
    total = here + int(new.sum()) + 1
    position = np.where(new, here - 1 + np.cumsum(new), known)
    own = embed(counts, np.append(np.arange(here), total - 1), total)
    old = embed(history.params["counts"], np.append(position, total - 1), total)
    return AgreementCounts(*(a + b for a, b in zip(own, old, strict=True)))


def embed(counts: AgreementCounts, position: NDArray[np.int64], total: int) -> AgreementCounts:
    """The counts with each worker at a new position among `total` workers."""
    n = len(position)
    move = coo_array((np.ones(n), (position, np.arange(n))), (total, n)).tocsr()
    vote_weight = np.asarray(move @ counts.vote_weight, np.float64)
    return AgreementCounts(move @ counts.agreed @ move.T, move @ counts.shared @ move.T, vote_weight)


def to_pairs(counts: AgreementCounts, K: int) -> Pairs:
    """The pairs of different workers with a common task."""
    (key, times), (agreed_key, agreed) = off_diagonal(counts.shared), off_diagonal(counts.agreed)
    share = np.zeros(len(key))
    share[np.searchsorted(key, agreed_key)] = agreed
    one, other = np.divmod(key, len(counts.vote_weight))
    return Pairs(one, other, excess(share / times, K), times)


def off_diagonal(matrix: Any) -> tuple[NDArray[np.int64], Floats]:
    """The sorted keys (row x columns + column) and values of a square sparse matrix off its diagonal."""
    cells = matrix.tocoo()
    key = cells.row.astype(np.int64) * cells.shape[1] + cells.col
    order = np.argsort(key)
    order = order[(cells.row != cells.col)[order]]
    return key[order], cells.data[order]
