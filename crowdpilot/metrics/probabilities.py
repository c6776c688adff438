"""Proper scoring rules of probabilities: Brier score with its decomposition, log loss.

The truth is an array of codes of the columns of the probabilities.

Every function takes a `weight` for each task; with several rows of weights, (samples, tasks), it
gives as many values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import divide
from crowdpilot.metrics.compare import average, compare_probs, plain, spread_classes
from crowdpilot.metrics.confidence_bins import equal_width


class BrierParts(NamedTuple):
    """reliability - resolution + uncertainty + within is the Brier score."""

    reliability: float  # calibration error; 0 is best
    resolution: float  # variance of the class shares between bins; more is better
    uncertainty: float  # variance of the classes, whatever is predicted
    within: float  # variance and covariance within bins; 0 if each holds one probability only


def brier(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Brier score: mean squared distance of the probabilities from the one-hot truth, from 0 to 2.

    mean over tasks of sum_k (probs[k] - [k is true])^2. With two classes this is twice the score
    that looks at one of them only.

    References
    ----------
    Brier, Monthly Weather Review 78(1), 1950.

    Examples
    --------
    >>> round(brier([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.17
    """
    true, p, weights, classes = compare_probs(truth, probs, weight)
    loss = ((p - np.eye(len(classes))[true]) ** 2).sum(axis=1)
    return average(loss, weights)


def log_loss(
    truth: ArrayLike,
    probs: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    floor: float = float(np.finfo(float).eps),
) -> float:
    """Log loss: mean negative log-probability of the true class.

    Parameters
    ----------
    truth, probs, weight
        As in `brier`.
    floor
        A probability counts as at least this, so that one certain mistake is not infinitely bad.

    Examples
    --------
    >>> round(log_loss([0, 1], [[0.9, 0.1], [0.4, 0.6]]), 3)
    0.308
    """
    true, p, weights, _ = compare_probs(truth, probs, weight)
    loss = -np.log(np.maximum(p[np.arange(len(true)), true], floor))
    return average(loss, weights)


def brier_parts(
    truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, bins: int = 15
) -> BrierParts:
    """Decomposition of the Brier score: reliability, resolution, uncertainty, and the rest within bins.

    For each class, tasks are put into the bins of `ece` by its probability p; o is the share of the
    tasks of a bin that are of the class, o' that of all tasks. Summed over classes,

        reliability = mean over tasks of (mean of p in the bin - o)^2
        resolution  = mean over tasks of (o - o')^2
        uncertainty = o' (1 - o')

    What remains is the spread of p within the bins, less twice its covariance with the truth there;
    it is zero where a bin holds one value of p only, and then Murphy's three parts are the score.

    References
    ----------
    Murphy, A new vector partition of the probability score, Journal of Applied Meteorology 12,
    1973. Stephenson, Coelho and Jolliffe, Two extra components in the Brier score decomposition,
    Weather and Forecasting 23, 2008.

    Examples
    --------
    >>> parts = brier_parts([0, 1, 1, 0], [[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    >>> [round(part, 2) + 0 for part in parts]
    [0.17, 0.0, 0.5, 0.0]
    """
    true, p, weights, classes = compare_probs(truth, probs, weight)
    bin_of, onehot, total = equal_width(p, bins), np.eye(len(classes))[true], weights.sum(axis=-1)
    values = np.ones_like(p), p, onehot
    size, predicted, observed = (weights @ spread_classes(v, bin_of, bins) for v in values)
    base = weights @ onehot / total[..., None]  # (..., classes)
    reliability = divide((predicted - observed) ** 2, size, 0).sum(axis=-1) / total
    resolution = divide(observed**2, size, 0).sum(axis=-1) / total - (base**2).sum(axis=-1)
    uncertainty = (base * (1 - base)).sum(axis=-1)
    within = brier(truth, probs, weight=weight) - (reliability - resolution + uncertainty)
    return BrierParts(*(plain(part) for part in (reliability, resolution, uncertainty, within)))
