"""The book of one kind of loss in an audit: what is believed, staked, found and bounded."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.audit.betting import FLOOR, TOP, Doubt, Wealth, growths, pull, stake
from crowdpilot.hybrid.audit.strata import Strata, learn_chances

DRAWING = 1  # the bettor whose growth the drawing serves: who wants to win at the planned number
RELEARN = 1.1  # how many more items must be known before chances are learnt again
BLEND = 0.1  # how much of all chances is the rate of losses found, whatever the model says
PACE = 5, 0.05  # draws, and share of a path, before its bound is looked at again


class Book:
    """Stakes on draws, and the bound on the total once their losses are known, in the order of draws.

    Parameters
    ----------
    strata
        Of the items.
    cap
        The most that each item can lose, (items,), equal within a stratum.
    chance
        Expected loss of each item over its cap, (items,).
    alpha
        How often a bound may fail, at whatever time.
    planned
        About how many items will be drawn.
    """

    def __init__(self, strata: Strata, cap: Floats, chance: Floats, alpha: float, planned: float) -> None:
        self.cap, self.prior, self.size = cap[strata.first], strata.mean(chance), strata.size
        self.alpha, self.growth = alpha, growths(planned, alpha)
        self.known = 0.0  # what settled draws have lost
        self._high = float(self.cap @ self.size)  # the best bound so far
        self._drawn, self._lost = np.zeros_like(self.cap), np.zeros_like(self.cap)  # by stratum
        self._draws: list[tuple[int, Floats, Floats]] = []  # stratum, items left and shares of each
        self._upper: list[tuple[Floats, Floats]] = []  # wholes and gains of settled draws
        self._lower: list[tuple[Floats, Floats]] = []
        self._guesses: list[float] = []  # unbiased for the total, one for each settled draw
        self._next, self._relearn = PACE[0], 1
        self.learn()

    def learn(self) -> None:
        """Correct the chances by what is known so far; later draws and stakes use them."""
        learnt = learn_chances(self.prior, self._drawn, self._lost)
        rate = (self._lost.sum() + 0.5) / (self._drawn.sum() + 1)
        chance = (1 - BLEND) * learnt + BLEND * rate if self._drawn.any() else learnt
        self.chance = np.clip(chance, FLOOR * self.growth[DRAWING], TOP)
        self.pull = pull(self.cap, self.chance, self.growth[DRAWING])

    def place(self, left: Floats, share: Floats, stratum: int) -> None:
        """Write down a draw from a stratum, when so many items were left, each with this share."""
        self._draws.append((stratum, left.copy(), share))

    def settle(self, loss: float) -> None:
        """Write down the loss of the first draw that is not settled."""
        count = len(self._guesses)
        if count >= self._relearn:  # before the stakes: they may know what is settled, and no more
            self._relearn = max(count + 1, int(count * RELEARN))
            self.learn()
        stratum, left, share = self._draws[count]
        stakes = stake(self.cap, self.chance, left, share, stratum, self.growth)
        expected = self.cap * self.chance * (share > 0)
        known = self.known + float(expected @ left) - float(expected[stratum]) / stakes.share
        with np.errstate(divide="ignore"):  # who has staked all may lose all
            gain, doubt = np.log(stakes.ceiling - loss), np.log(stakes.footing + loss)
        self._upper.append((stakes.whole + self.known, gain - np.log(stakes.share)))
        self._lower.append((stakes.base - self.known, doubt - np.log(stakes.share)))
        self._guesses.append(known + loss / stakes.share)
        self.known += loss
        self._drawn[stratum] += 1
        self._lost[stratum] += loss / self.cap[stratum] if self.cap[stratum] else 0
        if len(self._guesses) >= self._next:
            self._next += max(PACE[0], int(PACE[1] * self._next))
            self._high = self.high()

    def high(self) -> float:
        """The total is at most this: the best that was proven at some moments of the path, or now."""
        most = self.known + float(self.cap @ (self.size - self._drawn))
        if not self._guesses:
            return most
        whole, gain = map(np.array, zip(*self._upper, strict=True))
        return min(self._high, Wealth(whole, gain).upper(self.known, most, self.alpha))

    def low(self) -> float:
        """The total is at least this."""
        if not self._guesses:
            return 0.0
        base, gain = map(np.array, zip(*self._lower, strict=True))
        return Doubt(base, gain).lower(self.known, self.high(), self.alpha)

    def estimate(self) -> float:
        """Unbiased estimate of the total; the model's own before any loss is known."""
        if not self._guesses:
            return float(self.cap * self.prior @ self.size)
        return float(np.mean(self._guesses))
