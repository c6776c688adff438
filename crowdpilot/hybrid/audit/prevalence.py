"""Prevalence of each class with intervals, by prediction-powered inference from a few true labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.audit.betting import failure_probability


class Prevalence(NamedTuple):
    """Shares of the classes in a pool with their intervals, each (classes,)."""

    share: Floats
    low: Floats
    high: Floats
    prediction_weight: Floats  # the c of `prevalence`: 0 for useless predictions, 1 for full use
    classical: Floats  # the estimate from the true labels alone
    classical_low: Floats
    classical_high: Floats


def prevalence(probs: ArrayLike, items: ArrayLike, truths: ArrayLike, *, level: float = 0.9) -> Prevalence:
    """Share of each class in a pool, by prediction-powered inference.

    With truth *y* of n sampled items and predictions *f* of all N, the share of a class is estimated
    by `c mean(f over all) + mean(y - c f over the sample)`: the mean prediction, corrected by the mean error
    of predictions. The c with the smallest variance is used, so that bad predictions do no harm. Intervals
    are asymptotic, for a finite pool: their width vanishes as the sample becomes the pool.

    Parameters
    ----------
    probs
        Probabilities of the classes, or ones and zeros for labels, (items, classes).
    items
        Indices of a uniform sample without replacement, of two items or more, (sampled items,).
    truths
        True classes of these, as codes, (sampled items,).
    level
        Probability with which an interval contains the share.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Prediction-powered inference, Science 382, 2023.
    https://arxiv.org/abs/2301.09633
    Angelopoulos, Duchi and Zrnic, PPI++: Efficient prediction-powered inference, 2023.
    https://arxiv.org/abs/2311.01453

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> yes = rng.beta(0.2, 0.8, 5000)
    >>> truth = (rng.random(5000) < yes).astype(int)
    >>> sample = rng.permutation(5000)[:200]
    >>> shares = prevalence(np.stack([1 - yes, yes], axis=1), sample, truth[sample])
    >>> bool(shares.high[1] - shares.low[1] < 0.8 * (shares.classical_high - shares.classical_low)[1])
    True
    """
    f, sample, codes = np.asarray(probs, np.float64), np.asarray(items), np.asarray(truths)
    _check(f, sample, codes)
    n, size, classes = len(sample), *f.shape
    y, predicted = np.eye(classes)[codes], f[sample]
    variance = predicted.var(axis=0)
    covariance = (y * predicted).mean(axis=0) - y.mean(axis=0) * predicted.mean(axis=0)
    c = np.clip(np.divide(covariance, variance, out=np.zeros(classes), where=variance > 0), 0, 1)
    share = c * f.mean(axis=0) + (y - c * predicted).mean(axis=0)
    width = ndtri(1 - failure_probability(level) / 2) * np.sqrt((1 - n / size) / n)
    half, half_classical = ((rest.std(axis=0, ddof=1) * width) for rest in (y - c * predicted, y))
    classical = y.mean(axis=0)
    return Prevalence(
        share=np.clip(share, 0, 1),
        low=np.clip(share - half, 0, 1),
        high=np.clip(share + half, 0, 1),
        prediction_weight=c,
        classical=classical,
        classical_low=np.clip(classical - half_classical, 0, 1),
        classical_high=np.clip(classical + half_classical, 0, 1),
    )


def _check(f: Floats, sample: ArrayLike, codes: ArrayLike) -> None:
    sample, codes = np.asarray(sample), np.asarray(codes)
    if f.ndim != 2 or f.shape[1] < 2 or not np.isfinite(f).all():
        raise ValueError(f"the predictions have shape {f.shape}, expected numbers of (items, classes)")
    if sample.ndim != 1 or sample.shape != codes.shape or len(sample) < 2:
        raise ValueError(
            f"there are {sample.size} items and {codes.size} truths, expected as many, two or more"
        )
    for name, values, end in (("item", sample, len(f)), ("truth", codes, f.shape[1])):
        if values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= end:
            raise ValueError(f"an {name} of the sample is not a whole number from 0 to {end - 1}")
    if len(np.unique(sample)) < len(sample):
        raise ValueError("an item is in the sample twice; it is expected without replacement")
