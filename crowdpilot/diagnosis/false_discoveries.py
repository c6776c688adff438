"""Flags whose share of false ones is held below a bound, over all workers together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats

Flags = NDArray[np.bool_]


def by_p(p: Floats, share: float) -> Flags:
    """Flag the smallest p-values so that no more than this share is false; NaN is never flagged.

    References
    ----------
    Benjamini and Hochberg, Journal of the Royal Statistical Society B 57(1), 1995.

    Examples
    --------
    >>> by_p(np.array([0.001, 0.8, 0.03, 0.04]), 0.1).tolist()
    [True, False, True, True]
    """
    known = np.isfinite(p)
    rank = np.arange(1, len(p) + 1)
    return _best(np.where(known, -p, -np.inf), lambda ordered: -ordered <= share * rank / max(known.sum(), 1))


def by_e(e: Floats, share: float) -> Flags:
    """Flag the largest e-values so that no more than this share is false, however they depend.

    An e-value is a number whose mean is at most one if nothing is wrong, such as a likelihood ratio.

    References
    ----------
    Wang and Ramdas, Journal of the Royal Statistical Society B 84(3), 2022.
    """
    known = ~np.isnan(e)  # an infinite one is the strongest evidence there is
    rank = np.arange(1, len(e) + 1)
    return _best(np.where(known, e, -np.inf), lambda ordered: ordered * rank * share >= known.sum())


def by_probability(p: Floats, share: float) -> Flags:
    """Flag the highest probabilities, all above one half, so that the mean of their complements is below.

    References
    ----------
    Newton, Noueiry, Sarkar and Ahlquist, Biostatistics 5(2), 2004.
    """
    rank = np.arange(1, len(p) + 1)
    high = np.where(np.isfinite(p), p, -np.inf)
    return _best(high, lambda ordered: (np.cumsum(1 - ordered) <= share * rank) & (ordered > 0.5))


def _best(score: Floats, passes: Callable[[Floats], Flags]) -> Flags:
    """All up to the last, in falling order of score, that passes."""
    order = np.argsort(-score, kind="stable")
    good = np.flatnonzero(passes(score[order]))
    flags = np.zeros(len(score), bool)
    if len(good):
        flags[order[: good[-1] + 1]] = True
    return flags
