"""Robust rank-one completion of the agreement between workers, against adversaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_accuracy
from crowdpilot.aggregation.earlier_results import starting_probs
from crowdpilot.aggregation.truth_discovery import expect_positive
from crowdpilot.aggregation.worker_agreement import Counts, Pairs, count, excess, join, to_pairs
from crowdpilot.arrays import Floats, softmax
from crowdpilot.votes import Votes

NOTHING = 1e-6  # a worker this close to guessing says nothing about others
CALM = 50  # rounds after which steps get shorter, in case they swing between two answers


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
        Largest number of iterations.
    tol
        Stop when no s moves by more than this.
    seed
        Of the hash that breaks ties between classes.

    References
    ----------
    Ma and Olshevsky, Adversarial crowdsourcing through robust rank-one matrix completion,
    NeurIPS 2020. https://arxiv.org/abs/2010.12181

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
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
    warm_start: ClassVar[bool] = True
    uses_history: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("weight",)

    def __post_init__(self) -> None:
        expect_positive(self, "smoothing", "max_iter")
        if not 0 <= self.trim < 0.5:
            raise ValueError(f"trim of mmsr is {self.trim}, expected 0 or more and below 0.5")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        K, W = len(votes.classes), len(votes.workers)
        counts = count(votes)
        seen = counts if history is None else join(votes, counts, history)
        s, converged = self.settle(to_pairs(seen, K), self.first(votes, seen, start), K)
        if not converged:
            self.warn_not_converged(self.max_iter)
        right = seen.voted * ((K - 1) * s + 1) / K
        p = ((right + self.smoothing) / (seen.voted + K * self.smoothing))[:W]
        weight = np.log((K - 1) * p / (1 - p))
        probs = votes.clamp(softmax(votes.tally(weight[votes.worker])))
        skill = np.where(votes.worker_sum() > 0, p, np.nan)
        return Aggregate(votes, probs, skill, {"weight": weight, "counts": counts}, converged=converged)

    def first(self, votes: Votes, seen: Counts, start: Aggregate | None) -> Floats:
        """An s to begin with: of the best of workers, or of an earlier result; gold labels turn it."""
        K = len(votes.classes)
        s = np.ones(len(seen.voted))
        if start is not None:
            known = excess(expected_accuracy(votes, starting_probs(votes, start)), K)
            s[: len(known)] = np.nan_to_num(known, nan=1.0)
        teacher = np.append(np.zeros(len(s) - 1), 1)
        agreed, shared = seen.agreed @ teacher, seen.shared @ teacher
        s = ((K * agreed - shared) / (K - 1) + K * s) / (shared + K)
        return np.append(s[:-1], 1)

    def settle(self, pairs: Pairs, s: Floats, K: int) -> tuple[Floats, bool]:
        """The s of each worker, and whether it has come to rest."""
        converged = False
        for n in range(self.max_iter):
            twin = self.look(pairs, s)  # if s is c times too large, this is c times too small
            twin[-1] = 1
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
