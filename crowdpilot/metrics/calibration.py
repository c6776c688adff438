"""Whether probabilities can be believed: distances between confidence and accuracy, in bins.

The truth is given as codes of the columns of the probabilities. Every function takes a `weight` for
each task; with several rows of weights, (samples, tasks), it gives as many values. All but
`classwise_ece` look at the most probable class of each task and its probability, the confidence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, divide
from crowdpilot.metrics.binning import NEAR, Believed, believe, between, check_bins, equal_width, rank
from crowdpilot.metrics.compare import compare_probs, plain, spread, spread_classes

FAINT = 1e-14  # a mean square so small may be an error of rounding


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
    believed = believe(truth, probs, weight)
    gap, _ = _gaps(believed, bins)
    return plain(np.abs(gap).sum(axis=-1) / believed.weight.sum(axis=-1))


def mce(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15) -> float:
    """Maximum calibration error: |accuracy - mean confidence| of the worst bin of `ece`.

    A bin with few tasks is easily the worst by chance: look at the number of its tasks.

    References
    ----------
    Naeini, Cooper and Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning,
    AAAI 2015.

    Examples
    --------
    >>> round(mce([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.4
    """
    gap, size = _gaps(believe(truth, probs, weight), bins)
    return plain(divide(np.abs(gap), size, 0).max(axis=-1))


def ece_mass(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15) -> float:
    """Calibration error in bins that hold equally many tasks.

    As `ece`, but the tasks are cut by rank: confidences that crowd near 1 still fill all bins.
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
    believed = believe(truth, probs, weight)
    ranked = rank(believed.confidence, believed.weight)
    rows = np.arange(len(ranked.weight))
    gap = between(ranked.running(believed.gap[ranked.order]), rows, ranked.cut(bins, rows))
    return _shape(np.abs(gap).sum(axis=1) / ranked.weight.sum(axis=1), believed)


def ece_debiased(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15
) -> float:
    """Root mean squared calibration error, without what chance alone adds to it.

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
    believed = believe(truth, probs, weight)
    ranked = rank(believed.confidence, believed.weight)
    gap, rows = believed.gap[ranked.order], np.arange(len(ranked.weight))
    cuts, w = ranked.cut(bins, rows), ranked.weight
    once = [between(ranked.running(values), rows, cuts) for values in (gap, np.ones(len(gap)))]
    twice = [between(ranked.running(w * values), rows, cuts) for values in (gap**2, np.ones(len(gap)))]
    pairs, whole = (a**2 - b for a, b in zip(once, twice, strict=True))
    square = divide(pairs, np.where(whole > NEAR * once[1] ** 2, whole, 0), 0)
    mean = (once[1] * square).sum(axis=1) / w.sum(axis=1)
    return _shape(np.sqrt(np.where(mean > FAINT, mean, 0)), believed)


def ece_sweep(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, most: int = 100
) -> float:
    """Calibration error in as many bins of equally many tasks as the accuracy still rises over.

    Beginning with one bin, their number grows until a more confident bin is less often right than
    one before it; the last number before that is taken. So the data decide on the bins.

    Parameters
    ----------
    truth, probs, weight
        As in `ece`.
    most
        The number of bins at which to stop in any case; the paper goes on to the number of tasks.

    References
    ----------
    Roelofs et al., Mitigating bias in calibration error estimation, AISTATS 2022.
    https://arxiv.org/abs/2012.08668

    Examples
    --------
    >>> round(ece_sweep([0, 1, 0, 0], [[0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1]]), 3)
    0.15
    """
    check_bins(most)
    believed = believe(truth, probs, weight)
    ranked = rank(believed.confidence, believed.weight)
    total = ranked.weight.sum(axis=1)
    size, hits, gap = (
        ranked.running(values[ranked.order])
        for values in (np.ones(len(ranked.order)), believed.right, believed.gap)
    )
    found = np.zeros(len(total))
    rows = np.arange(len(total))
    for bins in range(1, most + 1):
        cuts = ranked.cut(bins, rows)
        rises = _rises(between(hits, rows, cuts), between(size, rows, cuts))
        rows, cuts = rows[rises], cuts[rises]
        if not len(rows):
            break
        found[rows] = np.abs(between(gap, rows, cuts)).sum(axis=1) / total[rows]
    return _shape(found, believed)


def classwise_ece(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15
) -> float:
    """Calibration error of the probability of every class, not of the most probable one alone.

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


def _gaps(believed: Believed, bins: int) -> tuple[Floats, Floats]:
    """Weight of right labels minus what the confidence promises, and weight, in bins of equal width."""
    which, weight = equal_width(believed.confidence, bins), believed.weight
    values = believed.gap, np.ones(len(which))
    gap, size = (weight @ spread(v, which, bins) for v in values)
    return gap, size


def _rises(hits: Floats, size: Floats) -> Any:
    """Whether the accuracy never falls from one bin to the next; bins without weight do not count."""
    accuracy = divide(hits, np.where(size > NEAR * size.sum(axis=1, keepdims=True), size, 0), -1)
    highest = np.maximum.accumulate(accuracy, axis=1)
    return ((accuracy >= highest - NEAR) | (accuracy < 0)).all(axis=1)


def _shape(values: Floats, believed: Believed) -> float:
    """One value for each row of weights, in the shape in which the weights were given."""
    return plain(values.reshape(believed.weight.shape[:-1]))
