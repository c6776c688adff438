"""MMSR: robust rank-one matrix completion of the agreement between workers, against adversaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.earlier_results import starting_probs
from crowdpilot.aggregation.truth_discovery import expect_positive
from crowdpilot.aggregation.workers.agreement import (
    AgreementCounts,
    Pairs,
    add_history,
    count_agreements,
    excess,
    to_pairs,
)
from crowdpilot.arrays import Floats, softmax
from crowdpilot.votes import Votes

MIN_ABS_SKILL = 1e-6  # a worker closer to guessing carries no information about others
FULL_STEP_ITERATIONS = 50  # after these, steps get shorter, in case they oscillate


@dataclass(frozen=True)
class MMSR(Aggregator):
    """Good workers agree with each other: skills are estimated from the agreement of pairs.

    If worker *j* is right with probability p[j] and all mistakes are equally likely, then with
    s[j] = (K p[j] - 1) / (K - 1) the agreement of two workers on their common tasks has

    (K agreement[i, j] - 1) / (K - 1) = s[i] s[j],

    a matrix of rank one known for the pairs that share tasks. Each iteration sets s[j] to the mean of the
    ratios of the left side to s[i] over all partners *i*, weighted by the number of common tasks times
    s[i]^2 and winsorized. A colluding minority is outvoted by the rest even if its votes agree perfectly.
    The weight of a vote is the log-odds log((K - 1) p[j] / (1 - p[j])), negative for a worker below
    chance. Gold labels are the votes of one more worker, who is always right.

    Memory grows with the number of pairs of workers who share a task.

    Parameters
    ----------
    trim
        Share of the ratios of a worker, at each end, that are set to the nearest of the rest
        (winsorized): about the share of adversaries to withstand, below one half. The paper drops them,
        which is not continuous.
    smoothing
        Pseudo-count of votes of each worker for each class, so that no skill is 0 or 1.
    max_iter
        Largest number of iterations.
    tol
        Stop when no s moves by more than this.

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
        counts = count_agreements(votes)
        total = counts if history is None else add_history(votes, counts, history)
        s, converged = self.iterate(to_pairs(total, K), self.initial_skill(votes, total, start), K)
        if not converged:
            self.warn_not_converged(self.max_iter)
        right = total.vote_weight * ((K - 1) * s + 1) / K
        p = ((right + self.smoothing) / (total.vote_weight + K * self.smoothing))[:W]
        weight = np.log((K - 1) * p / (1 - p))
        probs = votes.clamp(softmax(votes.tally(weight[votes.worker])))
        skill = np.where(votes.worker_sum() > 0, p, np.nan)
        return Aggregate(votes, probs, skill, {"weight": weight, "counts": counts}, converged=converged)

    def initial_skill(self, votes: Votes, counts: AgreementCounts, start: Aggregate | None) -> Floats:
        """Starting values of s: one, or those of an earlier result, updated by the gold labels."""
        K = len(votes.classes)
        s = np.ones(len(counts.vote_weight))
        if start is not None:
            known = excess(expected_worker_accuracy(votes, starting_probs(votes, start)), K)
            s[: len(known)] = np.nan_to_num(known, nan=1.0)
        teacher = np.append(np.zeros(len(s) - 1), 1)
        agreed, shared = counts.agreed @ teacher, counts.shared @ teacher
        s = ((K * agreed - shared) / (K - 1) + K * s) / (shared + K)
        return np.append(s[:-1], 1)

    def iterate(self, pairs: Pairs, s: Floats, K: int) -> tuple[Floats, bool]:
        """The s of each worker, and whether it has converged."""
        converged = False
        for n in range(self.max_iter):
            twin = self.update(pairs, s)  # if s is too large by a factor, this is too small by it
            twin[-1] = 1
            again = self.update(pairs, twin)
            goal = np.sign(again) * (np.abs(twin) + np.abs(again)) / 2
            goal = np.append(np.clip(goal[:-1], -1 / (K - 1), 1), 1)
            last, s = s, s + (goal - s) / (1 + max(n - FULL_STEP_ITERATIONS, 0))
            if converged := bool(np.abs(s - last).max() < self.tol):
                break
        met = np.bincount(pairs.one, minlength=len(s))[:-1] > 0
        s[:-1][~met] = s[:-1][met].mean() if met.any() else 1  # a worker without common tasks has the mean
        return s, converged

    def update(self, pairs: Pairs, s: Floats) -> Floats:
        """The s of every worker, given those of the others."""
        others = s[pairs.other]
        informative = np.abs(others) > MIN_ABS_SKILL
        ratio = np.divide(pairs.excess, others, out=np.zeros(len(others)), where=informative)
        low, high = self.bounds(pairs.one, ratio)
        teacher = pairs.other == len(s) - 1
        winsorized = np.where(teacher, ratio, np.clip(ratio, low, high))
        weight = informative * pairs.shared * others**2
        total = np.bincount(pairs.one, weight, len(s))
        mean: Floats = np.divide(
            np.bincount(pairs.one, weight * winsorized, len(s)), total, out=np.zeros(len(s)), where=total > 0
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
