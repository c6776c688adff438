"""Experts who err: how often, by two opinions on the same items, and what that adds to a bound."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

WEIGHTS = (2.0, 5.0)  # how much a missed loss may count in the tail bound; fixed before any data


def disagreement_bound(pairs: int, disagreements: int, alpha: float) -> float:
    """Anytime-valid upper bound on how often two experts disagree about an item.

    The bettors' wealth is that of a Beta(1/2, 1/2) mixture of bets (Robbins, 1970), so that second
    opinions may be bought until the bound is low enough.
    """
    if not 0 <= disagreements <= pairs:
        raise ValueError(f"{disagreements} disagreements in {pairs} pairs of opinions cannot be")
    mixture = betaln(disagreements + 0.5, pairs - disagreements + 0.5) - betaln(0.5, 0.5)

    def short(rate: float) -> float:
        likelihood = xlogy(disagreements, rate) + xlog1py(pairs - disagreements, -rate)
        return float(mixture - likelihood + np.log(alpha))

    low, high = disagreements / max(pairs, 1), 1 - 1e-12
    if pairs == 0 or low >= high or short(high) < 0:
        return 1.0
    return float(brentq(short, low, high))


def expert_error_bound(pairs: int, disagreements: int, alpha: float) -> float:
    """Upper bound on how often an expert errs, at most one half.

    Two experts who err independently with probability e, which is at most one half, disagree with
    probability `2 e (1 - e)` or more, because they do whenever just one of them errs. That no item
    is harder for experts than others is assumed; where it is, both err together, unseen.

    Parameters
    ----------
    pairs
        Items on which two experts have given an opinion, chosen without regard to the first one.
    disagreements
        How many of these got two different answers.
    alpha
        How often the bound may fail, at whatever time it is looked at.

    Examples
    --------
    >>> round(expert_error_bound(60, 2, alpha=0.05), 3)
    0.091
    """
    differ = min(disagreement_bound(pairs, disagreements, alpha), 0.5)
    return float((1 - np.sqrt(1 - 2 * differ)) / 2)


def allow_for_misses(reported: float, cap: float, error: float, alpha: float) -> float:
    """Upper bound on the true total of losses, if experts report this total at most.

    An item that loses f is reported to lose less only if the expert errs about it. With independent
    errors of probability e at most, `P(missed > c e total + cap log(1 / alpha) / log z) <= alpha`
    where `c = (z - 1) / log z`, by Markov's inequality for `z ** (missed / cap)`. A small z is best for
    many losses, a large one for few: two of them share alpha, and the better one counts.

    Parameters
    ----------
    reported
        Upper bound on what experts would report if they saw all items.
    cap
        The most that one item can lose.
    error
        Upper bound on the probability of an expert's error.
    alpha
        How often the allowance may be too small.
    """
    z = np.array(WEIGHTS)
    found = 1 - error * (z - 1) / np.log(z)  # the share of losses that is not missed
    slack = cap * np.log(len(z) / alpha) / np.log(z)
    totals = np.divide(reported + slack, found, out=np.full(len(z), np.inf), where=found > 0)
    return float(totals.min())
