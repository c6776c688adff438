"""Bounds on a total of unknown losses, by bets that can only win if the total is smaller.

Item *i* of a pool loses `f[i]`, between 0 and a known cap. Items are drawn one after the other
without replacement, item *i* with a share `q[i]` of the luck that may depend on all that is past.
A bettor against "the total is at least m" names a ceiling `w[i]` for each item, never below its
cap, and has the wealth multiplied by `(w[i] - f[i]) / q[i] / (W - m + A)`, where `W` is the sum of
the ceilings of all items not yet drawn and `A` what is known to be lost. If the total is m or more
this is at most one on average, whatever the ceilings and shares, so that the wealth exceeds
`1 / alpha` at any time with probability `alpha` at most (Ville). The wealth grows with m: the bound
is the m at which it reaches `1 / alpha`. A model of the losses decides how tight it is, never
whether it holds.

If an item is believed to lose its cap `M` with chance p, the wealth grows fastest with the roots
below; shares and ceilings follow from them for a wanted growth per draw.

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

HORIZONS = (0.5, 1.0, 2.0)  # parts of the planned number of draws at which the bettors want to have won
FLOOR = 0.3  # the least chance of a loss that is believed in, in growths per draw
TOP = 0.9  # the highest
FEWEST = 3.0  # draws in which a bettor wants to win at least
FINE = 1e-9  # how closely a bound is found, in parts of what it can be
ENDLESS = 1e3  # the logarithm of a wealth that needs no number

_ODDS = np.concatenate([np.geomspace(1e-9, 0.5, 2000), 1 - np.geomspace(0.5, 1e-6, 2000)[1:]])
_PAYS = np.log((1 - _ODDS) / _ODDS + np.log(_ODDS))  # falls as the odds rise


def growths(planned: float, alpha: float) -> Floats:
    """How much the logarithm of wealth must grow per draw to win at about the planned number of draws."""
    draws = np.maximum(np.asarray(HORIZONS) * planned, FEWEST)
    wanted: Floats = np.log(1 / alpha) / draws
    return wanted


def kept(chance: Floats, growth: Floats | float) -> Floats:
    """What share x of its stake a bettor should keep if an item loses its cap.

    It solves `p ((1 - x) / x + log x) = growth`, from a table: near zero for items believed safe, near
    one for those believed lost.
    """
    ratio = np.log(growth / chance)
    x: Floats = np.interp(ratio, _PAYS[::-1], _ODDS[::-1])
    return x


def pull(cap: Floats, chance: Floats, growth: Floats | float) -> Floats:
    """How strongly items should be drawn: as their caps where believed safe, more where in doubt.

    For large p this is `M sqrt(p)`, the root of the second moment, as in importance sampling; for p far
    below the growth per draw it is `M`, because no belief replaces a look.
    """
    x = kept(chance, growth)
    strength: Floats = cap * x**chance / (1 - x)
    return strength


def ceilings(cap: Floats, chance: Floats, share: Floats, rate: Floats) -> Floats:
    """Best ceilings for given shares: `q ((1 - p) / w + p / (w - M)) = rate`, never below the cap."""
    both = rate * cap + share
    root = np.sqrt(np.maximum(both**2 - 4 * rate * share * (1 - chance) * cap, 0))
    w: Floats = np.maximum((both + root) / (2 * rate), cap)
    return w


def footings(cap: Floats, chance: Floats, share: Floats, rate: Floats) -> Floats:
    """The mirror image, to bet on more than m: `q ((1 - p) / z + p / (z + M)) = rate`, at least zero."""
    left = share - rate * cap
    root = np.sqrt(left**2 + 4 * rate * share * (1 - chance) * cap)
    z: Floats = np.maximum((left + root) / (2 * rate), 0)
    return z


class Stakes(NamedTuple):
    """What the bettors have staked on one draw, each (bettors,)."""

    whole: Floats  # sum of the ceilings of all items not yet drawn
    ceiling: Floats  # that of the item drawn
    base: Floats  # sum of the footings
    footing: Floats
    share: float  # of the item drawn


def stake(cap: Floats, chance: Floats, left: Floats, share: Floats, drawn: int, growth: Floats) -> Stakes:
    """Bets on the next draw, from strata of equal items.

    Parameters
    ----------
    cap, chance
        Of the items of each stratum, (strata,).
    left
        Number of its items not yet drawn, (strata,).
    share
        Probability with which each of them is drawn, (strata,).
    drawn
        The stratum from which the item has been drawn; it may not influence the bets.
    growth
        Of each bettor, (bettors,).
    """
    wanted = growth[:, None]
    rate = np.exp(wanted) / (pull(cap, chance, wanted) @ left)[:, None]
    w, z = (best(cap, chance, share, rate) for best in (ceilings, footings))
    return Stakes(w @ left, w[:, drawn], z @ left, z[:, drawn], float(share[drawn]))


class Wealth:
    """The wealth of several bettors who began with equal parts of one unit.

    Parameters
    ----------
    whole
        Sum of the ceilings before each draw, plus what was known to be lost then, (draws, bettors).
    gain
        Logarithm of `(w - f) / q` for each draw, (draws, bettors).
    """

    def __init__(self, whole: Floats, gain: Floats) -> None:
        self._whole, self._gain = whole, gain.sum(axis=0)

    def against(self, total: float) -> float:
        """Logarithm of their wealth together if they bet against at least this total."""
        room = self._whole - total
        if not (room > 0).all():
            return float(np.inf)  # more than all ceilings: impossible
        return _log_mean(self._gain - np.log(room).sum(axis=0))

    def upper(self, known: float, most: float, alpha: float) -> float:
        """The least total that they have refuted, between what is known and the most there can be."""
        return _crossing(self.against, most, known, alpha)


class Doubt(Wealth):
    """The mirror image: bettors against "the total is at most m"; `whole` has footings."""

    def against(self, total: float) -> float:
        """Logarithm of their wealth together if they bet against at most this total."""
        room = self._whole + total
        if not (room > 0).all():
            return -np.inf
        return _log_mean(self._gain - np.log(room).sum(axis=0))

    def lower(self, known: float, most: float, alpha: float) -> float:
        """The greatest total that they have refuted."""
        return _crossing(self.against, known, most, alpha)


def _log_mean(logs: Floats) -> float:
    """Logarithm of the mean of the exponentials."""
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).mean())) if np.isfinite(top) else float(top)


def _crossing(wealth: Callable[[float], float], refuted: float, open: float, alpha: float) -> float:
    """Where the wealth reaches 1 / alpha, on the refuted side of it; the refuted end if it never does."""
    enough = float(np.log(1 / alpha))

    def spare(total: float) -> float:
        return float(np.clip(wealth(total) - enough, -ENDLESS, ENDLESS))

    if spare(refuted) <= 0:
        return refuted
    if spare(open) >= 0:
        return open
    step = FINE * abs(refuted - open)
    root = float(brentq(spare, open, refuted, xtol=step))
    return root + 2 * step * float(np.sign(refuted - open))


def upper_mean(values: ArrayLike, size: int, alpha: float, *, cap: float = 1.0) -> float:
    """Upper bound on the mean of a pool, from a uniform sample without replacement in its order.

    Parameters
    ----------
    values
        Of the items of the sample, between 0 and `cap`.
    size
        Of the pool.
    alpha
        How often the bound may fail, if the size of the sample was decided before it was looked at.
    cap
        The most that a value of the pool can be.

    Examples
    --------
    >>> round(upper_mean([0] * 100, size=2000, alpha=0.05), 3)
    0.035
    """
    f = np.asarray(values, np.float64)
    if f.ndim != 1 or len(f) > size or size < 1:
        raise ValueError(f"a sample of shape {f.shape} is not one of a pool of {size} items")
    if not ((f >= 0) & (f <= cap)).all():
        raise ValueError(f"a value of the sample is not between 0 and {cap}")
    if len(f) == 0:
        return cap
    before = np.concatenate([[0.0], np.cumsum(f)[:-1]])  # known to be lost before each draw
    steps = np.arange(len(f))
    left = (size - steps)[:, None]
    growth = np.log(1 / alpha) / np.maximum(len(f) * np.array([0.5, 1.0]), FEWEST)
    chance = (before / cap + 0.5) / (steps + 2)
    chance = np.clip(chance, FLOOR * growth[-1], TOP)[:, None]
    caps = np.full_like(chance, cap)
    rate = np.exp(growth) / (pull(caps, chance, growth) * left)
    w = ceilings(caps, chance, 1 / left, rate)
    wealth = Wealth(w * left + before[:, None], np.log((w - f[:, None]) * left))
    lost = float(f.sum())
    return wealth.upper(lost, lost + cap * (size - len(f)), alpha) / size
