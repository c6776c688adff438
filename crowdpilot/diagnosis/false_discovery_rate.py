"""False discovery rate control: Benjamini-Hochberg (p-values), e-BH (e-values), posterior probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats

Flags = NDArray[np.bool_]  # (workers,) or (tasks,)


def benjamini_hochberg(p: Floats, rate: float) -> Flags:
    """Flag the smallest p-values at this false discovery rate; NaN is never flagged.

    Parameters
    ----------
    p
        p-values, (n,).
    rate
        Expected share of false flags among all flags, at most.

    References
    ----------
    Benjamini and Hochberg, Journal of the Royal Statistical Society B 57(1), 1995.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.001, 0.8, 0.03, 0.04]), 0.1).tolist()
    [True, False, True, True]
    """
    known = np.isfinite(p)
    rank = np.arange(1, len(p) + 1)
    score = np.where(known, -p, -np.inf)
    return _step_up(score, lambda ordered: -ordered <= rate * rank / max(known.sum(), 1))


def e_benjamini_hochberg(e: Floats, rate: float) -> Flags:
    """Flag the largest e-values at this false discovery rate, however they depend on each other (e-BH).

    An e-value is a statistic whose mean is at most one under the null hypothesis, such as a
    likelihood ratio.

    Parameters
    ----------
    e
        e-values, (n,).
    rate
        As in `benjamini_hochberg`.

    References
    ----------
    Wang and Ramdas, Journal of the Royal Statistical Society B 84(3), 2022.
    """
    known = ~np.isnan(e)  # an infinite one is the strongest evidence there is
    rank = np.arange(1, len(e) + 1)
    return _step_up(np.where(known, e, -np.inf), lambda ordered: ordered * rank * rate >= known.sum())


def flag_by_posterior(p: Floats, rate: float) -> Flags:
    """Flag the highest posterior probabilities, all above one half, at this Bayesian false discovery rate.

    The rate is estimated by the mean of 1 - p over all that are flagged.

    Parameters
    ----------
    p
        Posterior probabilities, (n,).
    rate
        As in `benjamini_hochberg`.

    References
    ----------
    Newton, Noueiry, Sarkar and Ahlquist, Biostatistics 5(2), 2004.
    """
    rank = np.arange(1, len(p) + 1)
    score = np.where(np.isfinite(p), p, -np.inf)
    return _step_up(score, lambda ordered: (np.cumsum(1 - ordered) <= rate * rank) & (ordered > 0.5))


def _step_up(score: Floats, passes: Callable[[Floats], Flags]) -> Flags:
    """Flag all scores, in falling order, up to the last one that passes."""
    order = np.argsort(-score, kind="stable")
    passed = np.flatnonzero(passes(score[order]))
    flags = np.zeros(len(score), bool)
    if len(passed):
        flags[order[: passed[-1] + 1]] = True
    return flags
