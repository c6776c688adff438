"""Which workers meet at tasks, and how often they agree there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

PAIRS = 20_000_000  # of workers with a task in common; they take about 100 bytes each


class Counts(NamedTuple):
    """What has to be known of the votes; the last worker is the one who knows the gold labels."""

    agreed: Any  # sparse (workers + 1, workers + 1): tasks on which two workers gave the same label
    shared: Any  # sparse, same shape: tasks they both labelled
    voted: Floats  # (workers + 1,)


class Pairs(NamedTuple):
    """Pairs of different workers with a task in common, each both ways, sorted by `one`."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    excess: Floats  # how much more they agree than by chance, one at most
    shared: Floats


def excess(expected_accuracy: Floats, K: int) -> Floats:
    """How much more than by chance: 0 for guessing, 1 for always."""
    return (K * expected_accuracy - 1) / (K - 1)


def count(votes: Votes) -> Counts:
    """Who agreed with whom how often."""
    votes = with_teacher(votes)
    tasks, workers = len(votes.tasks), len(votes.workers)
    meetings = int((np.bincount(votes.task).astype(np.int64) ** 2).sum())
    if min(meetings, workers**2) > PAIRS:
        raise ValueError(
            f"{workers} workers share tasks in up to {min(meetings, workers**2)} pairs, and mmsr can compare "
            f"{PAIRS} at most; take another model"
        )
    shared = coo_array((votes.weights, (votes.task, votes.worker)), (tasks, workers)).tocsr()
    return Counts(votes.ballots.T @ votes.ballots, shared.T @ shared, votes.worker_sum())


def with_teacher(votes: Votes) -> Votes:
    """The same votes and those of one more worker, who knows the gold labels."""
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


def join(votes: Votes, counts: Counts, history: Aggregate) -> Counts:
    """These counts and those of an earlier result; workers known only there come after these."""
    here = len(votes.workers)
    known = votes.index("workers", history.votes.workers)
    new = known < 0
    total = here + int(new.sum()) + 1
    place = np.where(new, here - 1 + np.cumsum(new), known)
    own = embed(counts, np.append(np.arange(here), total - 1), total)
    old = embed(history.params["counts"], np.append(place, total - 1), total)
    return Counts(*(a + b for a, b in zip(own, old, strict=True)))


def embed(counts: Counts, place: NDArray[np.int64], total: int) -> Counts:
    """The counts of workers who have new places among so many."""
    move = coo_array((np.ones(len(place)), (place, np.arange(len(place)))), (total, len(place))).tocsr()
    voted = np.asarray(move @ counts.voted, np.float64)
    return Counts(move @ counts.agreed @ move.T, move @ counts.shared @ move.T, voted)


def to_pairs(counts: Counts, K: int) -> Pairs:
    """The pairs of different workers; who never met never agreed."""
    (key, times), (agreed_key, agreed) = unlike(counts.shared), unlike(counts.agreed)
    share = np.zeros(len(key))
    share[np.searchsorted(key, agreed_key)] = agreed
    one, other = np.divmod(key, len(counts.voted))
    return Pairs(one, other, excess(share / times, K), times)


def unlike(matrix: Any) -> tuple[NDArray[np.int64], Floats]:
    """The values off the diagonal of a square sparse matrix, and their sorted places in the whole."""
    cells = matrix.tocoo()
    place = cells.row.astype(np.int64) * cells.shape[1] + cells.col
    order = np.argsort(place)
    order = order[(cells.row != cells.col)[order]]
    return place[order], cells.data[order]
