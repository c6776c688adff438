"""Confidence sequences by betting: bounds on a total of unknown losses, sampled without replacement.

Item *i* of a pool loses `f[i]`, between 0 and a known cap. Items are drawn one after the other without
replacement, item *i* with a probability `q[i]` that may depend on all earlier draws. A bettor against
"the total is at least m" chooses a ceiling `w[i]` for each item, never below its cap, and has the wealth
multiplied by `(w[i] - f[i]) / q[i] / (W - m + A)`, where `W` is the sum of the ceilings of all items not
yet drawn and `A` the loss of those drawn. If the total is m or more this factor is at most one on average,
whatever the ceilings and probabilities (the wealth is a supermartingale), so that by Ville's inequality
the wealth ever exceeds `1 / alpha` with probability `alpha` at most. The wealth grows with m: the upper
bound is the m at which it reaches `1 / alpha`. A model of the losses decides how tight the bound is, never
whether it holds. To bet on more than m, floors `z[i]` take the place of the ceilings.

If the model says that an item loses its cap `M` with probability p and nothing otherwise, the expected
logarithm of the wealth grows fastest with the roots below; sampling probabilities and ceilings follow from
them for a desired growth per draw. `alpha` is 1 - level throughout.

References
----------
Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS-B 86(1),
2024. https://arxiv.org/abs/2010.09686
Shekhar, Xu, Lipton, Liang and Ramdas, Risk-limiting financial audits via weighted sampling without
replacement, UAI 2023. https://arxiv.org/abs/2305.06884
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from crowdpilot.arrays import Floats

HORIZONS = (0.5, 1.0, 2.0)  # times the planned draws after which the bettors aim at a wealth of 1 / alpha
MIN_PROBABILITY_PER_GROWTH = 0.3  # smallest probability of a loss that is used, in growths per draw
MAX_PROBABILITY = 0.9  # largest probability of a loss that is used
MIN_HORIZON_DRAWS = 3.0
BOUND_TOLERANCE = 1e-9  # of a bound, as a share of its range
MAX_LOG_WEALTH = 1e3  # beyond which only the sign counts
LEVEL_DECIMALS = 12

_RETAINED = np.concatenate([np.geomspace(1e-9, 0.5, 2000), 1 - np.geomspace(0.5, 1e-6, 2000)[1:]])
_LOG_GROWTH_PER_PROBABILITY = np.log((1 - _RETAINED) / _RETAINED + np.log(_RETAINED))  # falls with x


def failure_probability(level: float) -> float:
    """The alpha of a confidence level: 1 - level, rounded to 12 decimals, so that 0.95 gives 0.05 exactly.

    Examples
    --------
    >>> failure_probability(0.95)
    0.05
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a number between 0 and 1 such as 0.95")
    return round(1 - level, LEVEL_DECIMALS)


def growth_rates(planned: float, alpha: float) -> Floats:
    """Growth of the log-wealth per draw that reaches 1 / alpha at the horizon of each bettor, (bettors,)."""
    draws = np.maximum(np.asarray(HORIZONS) * planned, MIN_HORIZON_DRAWS)
    growth: Floats = np.log(1 / alpha) / draws
    return growth


def retained_share(probability: Floats, growth: Floats | float) -> Floats:
    """The share x of its stake that a bettor should retain if an item loses its cap.

    It solves `p ((1 - x) / x + log x) = growth`, by interpolation in a table: near zero for items that are
    probably safe, near one for those that are probably lost.
    """
    ratio = np.log(growth / probability)
    x: Floats = np.interp(ratio, _LOG_GROWTH_PER_PROBABILITY[::-1], _RETAINED[::-1])
    return x


def sampling_weight(cap: Floats, probability: Floats, growth: Floats | float) -> Floats:
    """Weights with which items should be drawn: their caps where probably safe, more where in doubt.

    For large p this is `M sqrt(p)`, the root of the second moment, as in importance sampling; for p far
    below the growth per draw it is `M`, because no model replaces an observation.
    """
    x = retained_share(probability, growth)
    weight: Floats = cap * x**probability / (1 - x)
    return weight


def ceilings(cap: Floats, probability: Floats, share: Floats, rate: Floats) -> Floats:
    """Best ceilings for given draws: `q ((1 - p) / w + p / (w - M)) = rate`, never below the cap."""
    both = rate * cap + share
    root = np.sqrt(np.maximum(both**2 - 4 * rate * share * (1 - probability) * cap, 0))
    w: Floats = np.maximum((both + root) / (2 * rate), cap)
    return w


def floors(cap: Floats, probability: Floats, share: Floats, rate: Floats) -> Floats:
    """The same to bet on more than m: `q ((1 - p) / z + p / (z + M)) = rate`, at least zero."""
    difference = share - rate * cap
    root = np.sqrt(difference**2 + 4 * rate * share * (1 - probability) * cap)
    z: Floats = np.maximum((difference + root) / (2 * rate), 0)
    return z


class Stakes(NamedTuple):
    """The bets on one draw; arrays are (bettors,)."""

    ceiling_sum: Floats  # of all items not yet drawn
    ceiling: Floats  # of the item drawn
    floor_sum: Floats
    floor: Floats
    share: float  # probability with which the item was drawn


def stake(
    cap: Floats, probability: Floats, left: Floats, share: Floats, drawn: int, growth: Floats
) -> Stakes:
    """Bets on the next draw, from strata of equal items.

    Parameters
    ----------
    cap, probability
        Largest loss of the items of each stratum, and its probability, (strata,).
    left
        Number of items not yet drawn, (strata,).
    share
        Probability with which each of them is drawn, (strata,).
    drawn
        The stratum from which the item has been drawn; it may not influence the bets.
    growth
        Desired growth of the log-wealth per draw, (bettors,).
    """
    each = growth[:, None]
    rate = np.exp(each) / (sampling_weight(cap, probability, each) @ left)[:, None]
    w, z = (best(cap, probability, share, rate) for best in (ceilings, floors))
    return Stakes(w @ left, w[:, drawn], z @ left, z[:, drawn], float(share[drawn]))


def upper_total(ceiling_sums: Floats, log_gains: Floats, known: float, most: float, alpha: float) -> float:
    """The smallest total that bettors with equal parts of one unit have refuted.

    Parameters
    ----------
    ceiling_sums
        Sum of the ceilings before each draw, plus the loss known then, (draws, bettors).
    log_gains
        `log((w - f) / q)` of each draw, (draws, bettors).
    known, most
        The loss of all draws, and the largest total that is possible.
    alpha
        Probability with which the bound may fail.
    """
    gain = log_gains.sum(axis=0)

    def log_wealth(total: float) -> float:
        room = ceiling_sums - total
        if not (room > 0).all():
            return float(np.inf)  # above the sum of all ceilings: impossible
        return _log_mean(gain - np.log(room).sum(axis=0))

    return _crossing(log_wealth, most, known, alpha)


def lower_total(floor_sums: Floats, log_gains: Floats, known: float, most: float, alpha: float) -> float:
    """The largest total that bettors on a higher one have refuted; as `upper_total`, with floors.

    `floor_sums` are those of the floors, less the loss known then; gains are `log((z + f) / q)`.
    """
    gain = log_gains.sum(axis=0)

    def log_wealth(total: float) -> float:
        room = floor_sums + total
        if not (room > 0).all():
            return -np.inf
        return _log_mean(gain - np.log(room).sum(axis=0))

    return _crossing(log_wealth, known, most, alpha)


def _log_mean(logs: Floats) -> float:
    """Logarithm of the mean of the exponentials."""
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).mean())) if np.isfinite(top) else float(top)


def _crossing(log_wealth: Callable[[float], float], refuted: float, open: float, alpha: float) -> float:
    """Where the wealth reaches 1 / alpha, on the refuted side of it; the refuted end if it never does."""
    enough = float(np.log(1 / alpha))

    def excess(total: float) -> float:
        return float(np.clip(log_wealth(total) - enough, -MAX_LOG_WEALTH, MAX_LOG_WEALTH))

    if excess(refuted) <= 0:
        return refuted
    if excess(open) >= 0:
        return open
    step = BOUND_TOLERANCE * abs(refuted - open)
    root = float(brentq(excess, open, refuted, xtol=step))
    return root + 2 * step * float(np.sign(refuted - open))


def upper_mean(values: ArrayLike, size: int, *, level: float = 0.95, cap: float = 1.0) -> float:
    """Upper bound on the mean of a pool, from a uniform sample without replacement in its order.

    Parameters
    ----------
    values
        Of the items of the sample, between 0 and `cap`, (sampled items,).
    size
        Of the pool.
    level
        Probability with which the bound holds, if the size of the sample was fixed in advance.
    cap
        The largest possible value of the pool.

    Examples
    --------
    >>> round(upper_mean([0] * 100, size=2000, level=0.95), 3)
    0.035
    """
    alpha = failure_probability(level)
    f = np.asarray(values, np.float64)
    if f.ndim != 1 or len(f) > size or size < 1:
        raise ValueError(f"a sample of shape {f.shape} is not one of a pool of {size} items")
    if not ((f >= 0) & (f <= cap)).all():
        raise ValueError(f"a value of the sample is not between 0 and {cap}")
    if len(f) == 0:
        return cap
    known = np.concatenate([[0.0], np.cumsum(f)[:-1]])  # loss known before each draw
    draw = np.arange(len(f))
    left = (size - draw)[:, None]
    growth = np.log(1 / alpha) / np.maximum(len(f) * np.array([0.5, 1.0]), MIN_HORIZON_DRAWS)
    probability = (known / cap + 0.5) / (draw + 2)
    probability = np.clip(probability, MIN_PROBABILITY_PER_GROWTH * growth[-1], MAX_PROBABILITY)[:, None]
    caps = np.full_like(probability, cap)
    rate = np.exp(growth) / (sampling_weight(caps, probability, growth) * left)
    w = ceilings(caps, probability, 1 / left, rate)
    lost = float(f.sum())
    most = lost + cap * (size - len(f))
    log_gains = np.log((w - f[:, None]) * left)
    return upper_total(w * left + known[:, None], log_gains, lost, most, alpha) / size
