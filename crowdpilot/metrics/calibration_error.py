"""Calibration errors in bins: ECE, its debiased, equal-mass and sweep variants, MCE, classwise ECE.

The truth is given as codes of the columns of the probabilities. Every function takes a `weight` for
each task; with several rows of weights, (samples, tasks), it gives as many values. All but
`classwise_ece` use the most probable class of each task and its probability, the confidence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, divide
from crowdpilot.metrics.compare import compare_probs, plain, spread, spread_classes
from crowdpilot.metrics.confidence_bins import (
    SHARE_TOLERANCE,
    TopLabels,
    bin_sums,
    check_bins,
    equal_width,
    rank_by_confidence,
    top_labels,
)

MIN_MEAN_SQUARE = 1e-14  # a smaller mean square may be a rounding error


def ece(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15) -> float:
    """Expected calibration error: how far confidence is from accuracy.

    sum over bins of |accuracy - mean confidence|, weighted by the share of tasks in the bin. The
    confidence is the highest probability of a task (the first of equals is its label), the bins
    are ((m - 1) / bins, m / bins].

    References
    ----------
    Guo et al., On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> round(ece([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.25
    """
    top = top_labels(truth, probs, weight)
    gap, _ = _gaps(top, bins)
    return plain(np.abs(gap).sum(axis=-1) / top.weight.sum(axis=-1))


def mce(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15) -> float:
    """Maximum calibration error: |accuracy - mean confidence| of the worst bin of `ece`.

    A bin with few tasks is easily the worst by chance.

    References
    ----------
    Naeini, Cooper and Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning,
    AAAI 2015.

    Examples
    --------
    >>> round(mce([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.4
    """
    gap, size = _gaps(top_labels(truth, probs, weight), bins)
    return plain(divide(np.abs(gap), size, 0).max(axis=-1))


def ece_mass(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15) -> float:
    """Expected calibration error in bins of equal mass, that is, of equally many tasks.

    As `ece`, but the bins are quantiles of the confidence: confidences near 1 still fill all bins.
    Tasks of the same confidence stay together, in the bin that holds the middle of their weight.

    References
    ----------
    Nguyen and O'Connor, Posterior calibration and exploratory analysis for natural language
    processing models, EMNLP 2015. https://doi.org/10.18653/v1/D15-1182

    Examples
    --------
    >>> round(ece_mass([0, 1], [[0.9, 0.1], [0.4, 0.6]], bins=1), 3)
    0.25
    """
    check_bins(bins)
    top = top_labels(truth, probs, weight)
    ranked = rank_by_confidence(top.confidence, top.weight)
    rows = np.arange(len(ranked.weight))
    gap = bin_sums(ranked.cumulative(top.gap[ranked.order]), rows, ranked.bin_edges(bins, rows))
    return _shape(np.abs(gap).sum(axis=1) / ranked.weight.sum(axis=1), top)


def ece_debiased(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15
) -> float:
    """Debiased root mean squared calibration error, in bins of equal mass.

    In each bin of equally many tasks the squared gap is estimated by the pairs of different tasks,
    with r = confidence - [label is right] and weights w:

        ((sum w r)^2 - sum w^2 r^2) / ((sum w)^2 - sum w^2)

    It is zero on average if the confidence is right, and so may be negative; bins count by their
    share of the weight, and a sum below zero counts as zero. A bin that holds one task has no pair
    and counts as zero: of a single task the result is zero. Where all confidences of a bin are
    equal this is the estimator of Kumar, Liang and Ma.

    A weight is how much a task counts, not how many tasks there are: a task is never paired with
    itself, whatever its weight. So a bootstrap that draws it twice adds no bias.

    References
    ----------
    Kumar, Liang and Ma, Verified uncertainty calibration, NeurIPS 2019.
    https://arxiv.org/abs/1909.10155

    Examples
    --------
    >>> round(ece_debiased([0, 0, 1, 0], [[0.9, 0.1]] * 4), 3)
    0.0
    >>> round(ece_debiased([1, 0, 1, 0], [[0.9, 0.1]] * 4), 3)
    0.277
    """
    check_bins(bins)
    top = top_labels(truth, probs, weight)
    ranked = rank_by_confidence(top.confidence, top.weight)
    gap, rows = top.gap[ranked.order], np.arange(len(ranked.weight))
    edges, w = ranked.bin_edges(bins, rows), ranked.weight
    one = np.ones(len(gap))
    sums = [bin_sums(ranked.cumulative(values), rows, edges) for values in (gap, one)]
    square_sums = [bin_sums(ranked.cumulative(w * values), rows, edges) for values in (gap**2, one)]
    products, pair_weight = (a**2 - b for a, b in zip(sums, square_sums, strict=True))
    square = divide(products, np.where(pair_weight > SHARE_TOLERANCE * sums[1] ** 2, pair_weight, 0), 0)
    mean = (sums[1] * square).sum(axis=1) / w.sum(axis=1)
    return _shape(np.sqrt(np.where(mean > MIN_MEAN_SQUARE, mean, 0)), top)


def ece_sweep(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, max_bins: int = 100
) -> float:
    """Calibration error with a monotonic sweep over the number of bins of equal mass.

    Starting with one bin, their number grows until a more confident bin is less often right than
    one before it; the last number before that is taken. So the data decide on the bins.

    Parameters
    ----------
    truth, probs, weight
        As in `ece`.
    max_bins
        The number of bins at which the sweep ends; in the paper it is the number of tasks.

    References
    ----------
    Roelofs et al., Mitigating bias in calibration error estimation, AISTATS 2022.
    https://arxiv.org/abs/2012.08668

    Examples
    --------
    >>> round(ece_sweep([0, 1, 0, 0], [[0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]]), 3)
    0.15
    """
    check_bins(max_bins)
    top = top_labels(truth, probs, weight)
    ranked = rank_by_confidence(top.confidence, top.weight)
    total = ranked.weight.sum(axis=1)
    size, hits, gap = (
        ranked.cumulative(values[ranked.order]) for values in (np.ones(len(ranked.order)), top.right, top.gap)
    )
    errors = np.zeros(len(total))
    rows = np.arange(len(total))
    for bins in range(1, max_bins + 1):
        edges = ranked.bin_edges(bins, rows)
        rising = _is_monotonic(bin_sums(hits, rows, edges), bin_sums(size, rows, edges))
        rows, edges = rows[rising], edges[rising]
        if not len(rows):
            break
        errors[rows] = np.abs(bin_sums(gap, rows, edges)).sum(axis=1) / total[rows]
    return _shape(errors, top)


def classwise_ece(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15
) -> float:
    """Classwise expected calibration error: of the probability of every class, not of the highest alone.

    mean over classes of: sum over bins of |share of tasks that are of the class - mean probability
    of the class|, weighted by the share of tasks in the bin; the bins are those of `ece`. A class
    that never occurs counts like any other.

    References
    ----------
    Kull et al., Beyond temperature scaling, NeurIPS 2019. https://arxiv.org/abs/1910.12656

    Examples
    --------
    >>> round(classwise_ece([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.25
    """
    true, p, weights, classes = compare_probs(truth, probs, weight)
    gap = np.eye(len(classes))[true] - p
    by_bin = weights @ spread_classes(gap, equal_width(p, bins), bins)
    return plain(np.abs(by_bin).sum(axis=-1) / weights.sum(axis=-1) / len(classes))


def _gaps(top: TopLabels, bins: int) -> tuple[Floats, Floats]:
    """Sums of weighted gaps, and of weights, in bins of equal width, (..., bins) each."""
    bin_of, weight = equal_width(top.confidence, bins), top.weight
    values = top.gap, np.ones(len(bin_of))
    gap, size = (weight @ spread(v, bin_of, bins) for v in values)
    return gap, size


def _is_monotonic(hits: Floats, size: Floats) -> Any:
    """Whether the accuracy never falls from one bin to the next; bins without weight do not count."""
    accuracy = divide(hits, np.where(size > SHARE_TOLERANCE * size.sum(axis=1, keepdims=True), size, 0), -1)
    highest = np.maximum.accumulate(accuracy, axis=1)
    return ((accuracy >= highest - SHARE_TOLERANCE) | (accuracy < 0)).all(axis=1)


def _shape(values: Floats, top: TopLabels) -> float:
    """One value for each row of weights, in the shape of the rows."""
    return plain(values.reshape(top.weight.shape[:-1]))
