"""Selective prediction and decisions: risk-coverage curve, AURC, risk at a coverage, expected cost.

Every function takes a `weight` for each task; with several rows of weights, (samples, tasks), it
gives as many values or rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, divide
from crowdpilot.metrics.compare import average, compare_probs, plain
from crowdpilot.metrics.confidence_bins import SHARE_TOLERANCE, TopLabels, top_labels


class RiskCoverage(NamedTuple):
    """The risk-coverage curve: one point for each confidence that occurs, the highest first."""

    coverage: Floats  # (..., points) share of the tasks with at least this confidence
    risk: Floats  # (..., points) share of wrong labels among them; NaN if there are none
    confidence: Floats  # (..., points)


class DecisionCost(NamedTuple):
    """Mean cost of the decisions: by the truth, and as expected by the probabilities."""

    actual: float
    expected: float


def risk_coverage(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> RiskCoverage:
    """Share of wrong labels among the most confident ones, for every share of the tasks.

    Tasks of the same confidence stay together.

    References
    ----------
    El-Yaniv and Wiener, On the foundations of noise-free selective classification, JMLR 11, 2010.

    Examples
    --------
    >>> curve = risk_coverage([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
    >>> curve.coverage.round(2).tolist(), curve.risk.round(2).tolist()
    ([0.33, 0.67, 1.0], [0.0, 0.5, 0.33])
    """
    return _curve(top_labels(truth, probs, weight))


def aurc(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Area under the risk-coverage curve (AURC): the risk at the confidence of each task, averaged.

    It is 0 if no label is wrong; the share of wrong labels, if the confidence is always the same;
    and small if wrong labels have low confidence. It depends on the order of the confidences only:
    calibration by a monotonic map does not change it.

    References
    ----------
    Geifman, Uziel and El-Yaniv, Bias-reduced uncertainty estimation for deep neural classifiers,
    ICLR 2019. https://arxiv.org/abs/1805.08206

    Examples
    --------
    >>> round(aurc([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]]), 3)
    0.278
    """
    coverage, risk, _ = _curve(top_labels(truth, probs, weight))
    share = np.diff(coverage, axis=-1, prepend=0)
    return plain((share * np.where(share > 0, risk, 0)).sum(axis=-1))


def risk_at(
    truth: ArrayLike, probs: ArrayLike, *, coverage: float = 0.8, weight: ArrayLike | None = None
) -> float:
    """Selective risk: share of wrong labels among the most confident ones that cover a share of the tasks.

    The point of `risk_coverage` with the smallest coverage that is at least as large.

    Examples
    --------
    >>> round(risk_at([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], coverage=0.5), 3)
    0.5
    """
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage is {coverage}, expected a share above 0")
    covered, risk, _ = _curve(top_labels(truth, probs, weight))
    first = (covered >= coverage - SHARE_TOLERANCE).argmax(axis=-1)
    return plain(np.take_along_axis(risk, first[..., None], axis=-1)[..., 0])


def expected_cost(
    truth: ArrayLike, probs: ArrayLike, costs: ArrayLike, *, weight: ArrayLike | None = None
) -> DecisionCost:
    """Mean cost of the Bayes decisions, by the truth and as expected by the probabilities.

    For each task, the decision d that minimizes sum_k probs[k] costs[k, d] is taken (the first of
    equals). If the actual cost is above the expected one, the probabilities are overconfident.

    Parameters
    ----------
    truth, probs, weight
        As in `brier`.
    costs
        Of every decision for every true class, (classes, decisions). There may be more decisions
        than classes, such as asking an expert.

    References
    ----------
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.

    Examples
    --------
    >>> cost = expected_cost([0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]], [[0, 1], [2, 0]])
    >>> round(cost.actual, 3), round(cost.expected, 3)
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
    decision = expected.argmin(axis=1)
    return DecisionCost(average(table[true, decision], weights), average(expected.min(axis=1), weights))


def _curve(top: TopLabels) -> RiskCoverage:
    order = np.argsort(-top.confidence, kind="stable")
    confidence = top.confidence[order]
    last = np.flatnonzero(np.r_[np.diff(confidence) < 0, True])  # of each group of equal confidence
    weight = top.weight[..., order]
    covered = weight.cumsum(axis=-1)[..., last]
    wrong = (weight * (1 - top.right[order])).cumsum(axis=-1)[..., last]
    coverage = covered / covered[..., -1:]
    confidences = np.broadcast_to(confidence[last], coverage.shape)
    return RiskCoverage(coverage, divide(wrong, covered), confidences)
