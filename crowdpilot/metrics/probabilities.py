"""How good probabilities are; the truth is given as codes of their columns.

Every function takes a `weight` for each task; with several rows of weights, (samples, tasks), it
gives as many values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.metrics.compare import average, compare_probs, plain, spread


def brier(truth: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Mean squared distance of the probabilities from certainty about the truth, from 0 to 2.

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
    """Mean of minus the logarithm of the probability of the truth.

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
    if bins < 1:
        raise ValueError(f"bins is {bins}, expected 1 or more")
    true, p, weights, _ = compare_probs(truth, probs, weight)
    confidence = p.max(axis=1)
    gap = (p.argmax(axis=1) == true) - confidence
    which = np.clip(np.ceil(confidence * bins).astype(np.int32) - 1, 0, bins - 1)
    return plain(np.abs(weights @ spread(gap, which, bins)).sum(axis=-1) / weights.sum(axis=-1))
