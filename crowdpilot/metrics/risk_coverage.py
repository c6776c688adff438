"""What decisions cost that rest on probabilities.

Every function takes a `weight` for each task; with several rows of weights, (samples, tasks), it
gives as many values or rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, divide
from crowdpilot.metrics.binning import NEAR, Believed, believe
from crowdpilot.metrics.compare import average, compare_probs, plain


class RiskCoverage(NamedTuple):
    """What is wrong among the surest labels: one point for each confidence that occurs, from the top."""

    coverage: Floats  # (..., points) share of the tasks that are at least so sure
    risk: Floats  # (..., points) share of those that are wrong; NaN if there are none
    confidence: Floats  # (..., points)


class Cost(NamedTuple):
    """Mean cost of the decisions: what it is, and what the probabilities say it will be."""

    real: float
    foreseen: float


def risk_coverage(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> RiskCoverage:
    """How many labels are wrong if only the surest are kept, for every share that is kept.

    Tasks of the same confidence are kept or left together.

    References
    ----------
    El-Yaniv and Wiener, On the foundations of noise-free selective classification, JMLR 11, 2010.

    Examples
    --------
    >>> curve = risk_coverage([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
    >>> curve.coverage.round(2).tolist(), curve.risk.round(2).tolist()
    ([0.33, 0.67, 1.0], [0.0, 0.5, 0.33])
    """
    return _curve(believe(truth, probs, weight))


def aurc(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Area under the risk-coverage curve: the mean over tasks of the risk if all that are as sure are kept.

    It is 0 if no label is wrong; the share of wrong labels, if the confidence is always the same;
    and small if what is wrong is unsure. It looks at the order of the confidences, not at their
    size: calibration by a rising map does not change it.

    References
    ----------
    Geifman, Uziel and El-Yaniv, Bias-reduced uncertainty estimation for deep neural classifiers,
    ICLR 2019. https://arxiv.org/abs/1805.08206

    Examples
    --------
    >>> round(aurc([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]]), 3)
    0.278
    """
    coverage, risk, _ = _curve(believe(truth, probs, weight))
    share = np.diff(coverage, axis=-1, prepend=0)
    return plain((share * np.where(share > 0, risk, 0)).sum(axis=-1))


def risk_at(
    truth: ArrayLike, probs: ArrayLike, *, coverage: float = 0.8, weight: ArrayLike | None = None
) -> float:
    """Share of wrong labels among the surest, so many of them that they cover a share of the tasks.

    The point of `risk_coverage` with the least coverage that is at least as large.

    Examples
    --------
    >>> round(risk_at([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], coverage=0.5), 3)
    0.5
    """
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage is {coverage}, expected a share above 0")
    covered, risk, _ = _curve(believe(truth, probs, weight))
    first = (covered >= coverage - NEAR).argmax(axis=-1)
    return plain(np.take_along_axis(risk, first[..., None], axis=-1)[..., 0])


def expected_cost(
    truth: ArrayLike, probs: ArrayLike, costs: ArrayLike, *, weight: ArrayLike | None = None
) -> Cost:
    """Mean cost of the decisions that the probabilities advise, beside the cost that they foresee.

    For each task, the decision d with the least sum_k probs[k] costs[k, d] is taken (the first of
    equals). If the real cost is above the foreseen one, the probabilities are too optimistic.

    Parameters
    ----------
    truth, probs, weight
        As in `brier`.
    costs
        Of every decision for every true class, (classes, decisions). There may be more decisions
        than classes, such as to ask an expert.

    References
    ----------
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.

    Examples
    --------
    >>> cost = expected_cost([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [[0, 1], [2, 0]])
    >>> round(cost.real, 3), round(cost.foreseen, 3)
    (0.667, 0.333)
    """
    true, p, weights, classes = compare_probs(truth, probs, weight)
    table = np.asarray(costs, np.float64)
    if table.ndim != 2 or len(table) != len(classes) or not table.size or not np.isfinite(table).all():
        raise ValueError(
            f"the costs have shape {table.shape}, expected a finite number for each of {len(classes)} "
            "classes and each decision"
        )
    expected = p @ table  # (tasks, decisions)
    decided = expected.argmin(axis=1)
    return Cost(average(table[true, decided], weights), average(expected.min(axis=1), weights))


def _curve(believed: Believed) -> RiskCoverage:
    order = np.argsort(-believed.confidence, kind="stable")
    sure = believed.confidence[order]
    last = np.flatnonzero(np.r_[np.diff(sure) < 0, True])  # of each group of equal confidence
    weight = believed.weight[..., order]
    kept = weight.cumsum(axis=-1)[..., last]
    wrong = (weight * (1 - believed.right[order])).cumsum(axis=-1)[..., last]
    coverage = kept / kept[..., -1:]
    return RiskCoverage(coverage, divide(wrong, kept), np.broadcast_to(sure[last], coverage.shape))
