"""Robust rank-one completion of the agreement between workers, against adversaries."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from crowdpilot.aggregate.aggregator import Aggregate, Aggregator, agreement, match, started
from crowdpilot.aggregate.em import NotConverged
from crowdpilot.aggregate.truth_discovery import expect_positive
from crowdpilot.arrays import Floats, softmax
from crowdpilot.votes import Votes

PAIRS = 20_000_000  # of workers with a task in common; they take about 100 bytes each
NOTHING = 1e-6  # a worker this close to guessing says nothing about others
CALM = 50  # rounds after which steps get shorter, in case they swing between two answers


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


@dataclass(frozen=True)
class MMSR(Aggregator):
    """Good workers agree with each other: their skill is read off who agrees with whom.

    If worker *j* is right with probability p[j] and all mistakes are equally likely, then with
    s[j] = (K p[j] - 1) / (K - 1) the agreement of two workers on their common tasks has

    (K agreement[i, j] - 1) / (K - 1) = s[i] s[j],

    a matrix of rank one known for the pairs that share tasks. Each worker looks at the ratios of
    the left side to s[i], over all partners *i*, and takes their mean, weighted by the number of
    common tasks times s[i]^2, the extreme ones drawn in; and so on in turns. A group of workers
    who lie together is outvoted by the rest even if the lies agree perfectly. The votes then weigh
    the log-odds log((K - 1) p[j] / (1 - p[j])), which is negative for the worse than guessing.
    Known classes are the votes of one more worker, who is always right.

    Memory grows with the number of pairs of workers who share a task.

    Parameters
    ----------
    trim
        Share of the ratios of a worker, at each end, that are drawn in to the nearest of the rest:
        about the share of adversaries to withstand, below one half. The paper drops them, which
        jumps when ratios change places.
    smoothing
        Imaginary votes of each worker for each class, so that nobody is perfect.
    max_iter
        Rounds at most.
    tol
        Stop when no s moves by more than this.
    seed
        Draws the lot between equals when one label must be named.

    References
    ----------
    Ma and Olshevsky, Adversarial crowdsourcing through robust rank-one matrix completion,
    NeurIPS 2020. https://arxiv.org/abs/2010.12181

    Examples
    --------
    >>> from crowdpilot.simulate import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.7, 0.8, 0.1], seed=0)
    >>> MMSR().fit(votes).params["weight"].round(1).tolist()
    [2.4, 1.3, 0.8, 1.4, -2.5]
    """

    trim: float = 0.4
    smoothing: float = 1.0
    max_iter: int = 200
    tol: float = 1e-3
    seed: int = 0

    name: ClassVar[str] = "mmsr"
    aliases: ClassVar[tuple[str, ...]] = ("m_msr",)
    restarts: ClassVar[bool] = True
    remembers: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("weight",)

    def __post_init__(self) -> None:
        expect_positive(self, "smoothing", "max_iter")
        if not 0 <= self.trim < 0.5:
            raise ValueError(f"trim of mmsr is {self.trim}, expected 0 or more and below 0.5")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        K = len(votes.classes)
        counts = seen = count(votes)
        if history is not None:
            seen = Counts(*(a + b for a, b in zip(counts, recall(votes, history), strict=True)))
        first = np.ones(len(votes.workers)) if start is None else agreement(votes, started(votes, start))
        s, converged = self.settle(
            to_pairs(seen, K), excess(np.nan_to_num(np.append(first, 1), nan=1.0), K), K
        )
        if not converged:
            warnings.warn(f"{self} did not settle in {self.max_iter} rounds", NotConverged, stacklevel=3)
        right = seen.voted * ((K - 1) * s + 1) / K
        p = ((right + self.smoothing) / (seen.voted + K * self.smoothing))[:-1]
        weight = np.log((K - 1) * p / (1 - p))
        probs = votes.clamp(softmax(votes.tally(weight[votes.worker])))
        skill = np.where(votes.worker_sum() > 0, p, np.nan)
        return Aggregate(votes, probs, skill, {"weight": weight, "counts": counts}, converged=converged)

    def settle(self, pairs: Pairs, s: Floats, K: int) -> tuple[Floats, bool]:
        """The s of each worker, and whether it has come to rest."""
        converged = False
        for n in range(self.max_iter):
            twin = self.look(pairs, s)  # if s is c times too large, this is c times too small
            again = self.look(pairs, twin)
            goal = np.sign(again) * (np.abs(twin) + np.abs(again)) / 2
            goal = np.append(np.clip(goal[:-1], -1 / (K - 1), 1), 1)
            last, s = s, s + (goal - s) / (1 + max(n - CALM, 0))
            if converged := bool(np.abs(s - last).max() < self.tol):
                break
        met = np.bincount(pairs.one, minlength=len(s))[:-1] > 0
        s[:-1][~met] = s[:-1][met].mean() if met.any() else 1  # those who share no task are like the rest
        return s, converged

    def look(self, pairs: Pairs, s: Floats) -> Floats:
        """What the s of every worker must be, if those of the others are these."""
        others = s[pairs.other]
        heard = np.abs(others) > NOTHING
        ratio = np.divide(pairs.excess, others, out=np.zeros(len(others)), where=heard)
        low, high = self.bounds(pairs.one, ratio)
        sure = pairs.other == len(s) - 1
        drawn = np.where(sure, ratio, np.clip(ratio, low, high))
        weight = heard * pairs.shared * others**2
        total = np.bincount(pairs.one, weight, len(s))
        mean: Floats = np.divide(
            np.bincount(pairs.one, weight * drawn, len(s)), total, out=np.zeros(len(s)), where=total > 0
        )
        return mean

    def bounds(self, group: NDArray[np.int64], values: Floats) -> tuple[Floats, Floats]:
        """For each value the quantiles `trim` and 1 - `trim` of its group; groups are in order."""
        size = np.bincount(group)
        size = size[size > 0]
        last = np.cumsum(size) - 1
        first = last - size + 1
        drop = (self.trim * (size - 1)).astype(np.int64)
        ordered = values[np.lexsort((values, group))]
        return np.repeat(ordered[first + drop], size), np.repeat(ordered[last - drop], size)


def excess(agreement: Floats, K: int) -> Floats:
    """How much more than by chance: 0 for guessing, 1 for always."""
    return (K * agreement - 1) / (K - 1)


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


def recall(votes: Votes, history: Aggregate) -> Counts:
    """The counts of an earlier result for the workers of these votes."""
    old: Counts = history.params["counts"]
    rows = np.append(match(votes.workers, history.votes.workers), len(history.votes.workers))
    known = np.flatnonzero(rows >= 0)
    pick = coo_array((np.ones(len(known)), (known, rows[known])), (len(rows), len(old.voted))).tocsr()
    return Counts(pick @ old.agreed @ pick.T, pick @ old.shared @ pick.T, pick @ old.voted)


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
