"""Expert errors: bound on how often experts err, from pairs of opinions, and what it adds to a loss bound."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, xlog1py, xlogy

from crowdpilot.hybrid.audit.betting import failure_probability

TAIL_WEIGHTS = (2.0, 5.0)  # the z of `loss_with_misses`, fixed before any data


def expert_error_bound(pairs: int, disagreements: int, *, level: float = 0.95) -> float:
    """Upper bound on how often an expert errs, at most one half.

    Two experts who err independently with probability e, which is at most one half, disagree with
    probability `2 e (1 - e)` or more, because they do whenever just one of them errs. The bound assumes
    that all items are equally hard for experts; on harder ones both err together, unseen.

    Parameters
    ----------
    pairs
        Items on which two experts have given an opinion, chosen without regard to the first one.
    disagreements
        How many of these got two different answers.
    level
        Probability with which the bound holds, at any stopping time.

    Examples
    --------
    >>> round(expert_error_bound(60, 2, level=0.95), 3)
    0.091
    """
    return expert_error_upper(pairs, disagreements, failure_probability(level))


def expert_error_upper(pairs: int, disagreements: int, alpha: float) -> float:
    """`expert_error_bound` at the level 1 - alpha."""
    differ = min(disagreement_upper(pairs, disagreements, alpha), 0.5)
    return float((1 - np.sqrt(1 - 2 * differ)) / 2)


def disagreement_upper(pairs: int, disagreements: int, alpha: float) -> float:
    """Anytime-valid upper bound at the level 1 - alpha on how often two experts disagree about an item.

    The wealth is that of a Beta(1/2, 1/2) mixture of bets (Robbins, 1970), so that second opinions may be
    bought until the bound is low enough.
    """
    if not 0 <= disagreements <= pairs:
        raise ValueError(f"{disagreements} disagreements in {pairs} pairs of opinions cannot be")
    mixture = betaln(disagreements + 0.5, pairs - disagreements + 0.5) - betaln(0.5, 0.5)

    def excess(rate: float) -> float:
        likelihood = xlogy(disagreements, rate) + xlog1py(pairs - disagreements, -rate)
        return float(mixture - likelihood + np.log(alpha))

    low, high = disagreements / max(pairs, 1), 1 - 1e-12
    if pairs == 0 or low >= high or excess(high) < 0:
        return 1.0
    return float(brentq(excess, low, high))


def loss_with_misses(reported: float, cap: float, error: float, alpha: float) -> float:
    """Upper bound at the level 1 - alpha on the true total of losses, given one on the reported total.

    An item that loses f is reported to lose less only if the expert errs about it. With independent
    errors of probability e at most, `P(missed > c e total + cap log(1 / alpha) / log z) <= alpha`
    where `c = (z - 1) / log z`, by Markov's inequality for `z ** (missed / cap)`. A small z is best for
    many losses, a large one for few: two of them share alpha, and the better one counts.

    Parameters
    ----------
    reported
        Upper bound on what experts would report if they saw all items.
    cap
        The largest loss of one item.
    error
        Upper bound on the probability of an expert's error.
    alpha
        Probability with which this bound may fail.
    """
    z = np.array(TAIL_WEIGHTS)
    not_missed = 1 - error * (z - 1) / np.log(z)  # share of the losses
    slack = cap * np.log(len(z) / alpha) / np.log(z)
    totals = np.divide(reported + slack, not_missed, out=np.full(len(z), np.inf), where=not_missed > 0)
    return float(totals.min())
