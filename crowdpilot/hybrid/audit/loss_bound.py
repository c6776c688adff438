"""LossBound: confidence sequence and unbiased estimate of the total of one kind of loss, draw by draw."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.audit.betting import (
    MAX_PROBABILITY,
    MIN_PROBABILITY_PER_GROWTH,
    growth_rates,
    lower_total,
    sampling_weight,
    stake,
    upper_total,
)
from crowdpilot.hybrid.audit.strata import Strata, update_probabilities

SAMPLING_BETTOR = 1  # the bettor for whose growth items are sampled: its horizon is the planned number
UPDATE_GROWTH = 1.1  # factor by which the known losses must grow before probabilities are updated again
POOLED_SHARE = 0.1  # weight of the overall rate of losses in every probability, whatever the model says
MIN_DRAWS_BETWEEN_BOUNDS, SHARE_BETWEEN_BOUNDS = 5, 0.05  # before the running minimum is updated again


class LossBound:
    """Bets on draws, and bounds on the total once the losses are known, in the order of the draws.

    Parameters
    ----------
    strata
        Of the items.
    cap
        The largest loss of each item, (items,), equal within a stratum.
    probability
        Expected loss of each item over its cap, by the model, (items,).
    alpha
        Probability with which a bound may fail, at any stopping time.
    planned
        About how many items will be drawn.
    """

    def __init__(
        self, strata: Strata, cap: Floats, probability: Floats, alpha: float, planned: float
    ) -> None:
        self.cap, self.prior, self.size = cap[strata.first], strata.mean(probability), strata.size
        self.alpha, self.growth = alpha, growth_rates(planned, alpha)
        self.known_loss = 0.0  # of draws with known loss
        self._lowest_upper = float(self.cap @ self.size)  # running minimum of the upper bound
        self._drawn, self._lost = np.zeros_like(self.cap), np.zeros_like(self.cap)  # by stratum
        self._draws: list[tuple[int, Floats, Floats]] = []  # stratum, items left and shares of each
        self._ceilings: list[tuple[Floats, Floats]] = []  # sums and log-gains of draws with known loss
        self._floors: list[tuple[Floats, Floats]] = []
        self._estimates: list[float] = []  # unbiased for the total, one for each known loss
        self._next_bound, self._next_update = MIN_DRAWS_BETWEEN_BOUNDS, 1
        self._update_probabilities()

    def _update_probabilities(self) -> None:
        """Correct the probabilities by the known losses; later draws and bets use them."""
        updated = update_probabilities(self.prior, self._drawn, self._lost)
        rate = (self._lost.sum() + 0.5) / (self._drawn.sum() + 1)
        blended = (1 - POOLED_SHARE) * updated + POOLED_SHARE * rate if self._drawn.any() else updated
        growth = self.growth[SAMPLING_BETTOR]
        self.probability = np.clip(blended, MIN_PROBABILITY_PER_GROWTH * growth, MAX_PROBABILITY)
        self.sampling_weight = sampling_weight(self.cap, self.probability, growth)

    def record_draw(self, left: Floats, share: Floats, stratum: int) -> None:
        """Record a draw from a stratum: items left, and the probability of each, by stratum."""
        self._draws.append((stratum, left.copy(), share))

    def record_loss(self, loss: float) -> None:
        """Record the loss of the first draw whose loss is not known."""
        count = len(self._estimates)
        if count >= self._next_update:  # before betting: bets may use the known losses, and no more
            self._next_update = max(count + 1, int(count * UPDATE_GROWTH))
            self._update_probabilities()
        stratum, left, share = self._draws[count]
        stakes = stake(self.cap, self.probability, left, share, stratum, self.growth)
        expected = self.cap * self.probability * (share > 0)
        control = self.known_loss + float(expected @ left) - float(expected[stratum]) / stakes.share
        with np.errstate(divide="ignore"):  # a bettor who has staked everything may lose it
            upper_gain, lower_gain = np.log(stakes.ceiling - loss), np.log(stakes.floor + loss)
        self._ceilings.append((stakes.ceiling_sum + self.known_loss, upper_gain - np.log(stakes.share)))
        self._floors.append((stakes.floor_sum - self.known_loss, lower_gain - np.log(stakes.share)))
        self._estimates.append(control + loss / stakes.share)
        self.known_loss += loss
        self._drawn[stratum] += 1
        self._lost[stratum] += loss / self.cap[stratum] if self.cap[stratum] else 0
        if len(self._estimates) >= self._next_bound:
            self._next_bound += max(MIN_DRAWS_BETWEEN_BOUNDS, int(SHARE_BETWEEN_BOUNDS * self._next_bound))
            self._lowest_upper = self.upper()

    def upper(self) -> float:
        """Upper bound on the total: the lowest of those at some earlier draws, and the one now."""
        most = self.known_loss + float(self.cap @ (self.size - self._drawn))
        if not self._estimates:
            return most
        sums, gains = map(np.array, zip(*self._ceilings, strict=True))
        return min(self._lowest_upper, upper_total(sums, gains, self.known_loss, most, self.alpha))

    def lower(self) -> float:
        """Lower bound on the total."""
        if not self._estimates:
            return 0.0
        sums, gains = map(np.array, zip(*self._floors, strict=True))
        return lower_total(sums, gains, self.known_loss, self.upper(), self.alpha)

    def estimate(self) -> float:
        """Unbiased estimate of the total; the model's own before any loss is known."""
        if not self._estimates:
            return float(self.cap * self.prior @ self.size)
        return float(np.mean(self._estimates))
