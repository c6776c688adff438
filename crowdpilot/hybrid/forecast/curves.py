"""Forecast: loss and error rate against cost with prediction intervals, and the cost of a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.notebook_html import curve, panel, table

MEASURES = ("loss", "error")
TARGET_TOLERANCE = 1e-12


class PredictionInterval(NamedTuple):
    """Median and prediction interval of a number."""

    low: float
    median: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Plain numbers that JSON can hold, None for infinite ones."""
        return {name: value if np.isfinite(value) else None for name, value in self._asdict().items()}


class PredictionBand(NamedTuple):
    """Median and prediction interval of a curve at each cost per item, all (points,)."""

    cost: Floats
    low: Floats
    median: Floats
    high: Floats


@dataclass(frozen=True)
class TargetCost:
    """The cost of reaching a target.

    Parameters
    ----------
    measure, target
        "loss" or "error", and the value that it should not exceed.
    cost
        Per item, with what was spent before; infinite where the target is not reached.
    reached
        Probability that the campaign reaches the target before it ends by itself.
    possible
        Probability that this crowd could reach it with an unlimited number of votes.
    """

    measure: str
    target: float
    cost: PredictionInterval
    reached: float
    possible: float

    def __str__(self) -> str:
        what = f"{self.measure} {self.target:g}"
        if self.possible < 0.5:
            return f"{what} is probably not reachable with this crowd"
        if self.reached < 0.5:
            return f"{what} is probably not reached: the campaign ends before"
        high = f"{self.cost.high:.3g}" if np.isfinite(self.cost.high) else "never"
        return f"{what} costs {self.cost.median:.3g} for each item ({self.cost.low:.3g} to {high})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        shares = {"reached": self.reached, "possible": self.possible}
        return {"measure": self.measure, "target": self.target, "cost": self.cost.to_dict(), **shares}


@dataclass(frozen=True, eq=False)
class Forecast:
    """Simulated continuations of a campaign, all equally probable; numbers are per item.

    Costs include what was spent before. A simulation is a run of the campaign with one drawn truth.

    Parameters
    ----------
    items
        Number of items.
    level
        Of the prediction intervals.
    cost
        Points of the curves, (points,).
    loss, error
        Cost of wrong decisions and their share, if so much has been spent; (simulations, points).
    best
        The same with an unlimited number of votes: rows of loss and error, (2, simulations).
    votes, spent
        At the end of each run, (runs,).
    """

    items: int
    level: float
    cost: Floats
    loss: Floats
    error: Floats
    best: Floats
    votes: Floats
    spent: Floats

    def band(self, measure: str = "loss") -> PredictionBand:
        """The curve of "loss" or "error" with its prediction interval at every cost."""
        return PredictionBand(self.cost, *self._quantiles(self._simulations(measure)))

    def at(self, cost: float, measure: str = "loss") -> PredictionInterval:
        """Loss or error if so much is spent per item; that of the end if the campaign ends before."""
        simulations = self._simulations(measure)
        position = np.interp(cost, self.cost, np.arange(len(self.cost)))
        left, share = int(position), position - int(position)
        right = min(left + 1, len(self.cost) - 1)
        return self._interval((1 - share) * simulations[:, left] + share * simulations[:, right])

    def end(self, measure: str = "loss") -> PredictionInterval:
        """When the campaign ends by itself: "votes", "spent", "loss" or "error"."""
        if measure in ("votes", "spent"):
            return self._interval(self.votes if measure == "votes" else self.spent)
        return self._interval(self._simulations(measure)[:, -1])

    def cost_of(self, *, loss: float | None = None, error: float | None = None) -> TargetCost:
        """The cost of reaching a loss or an error rate, and of not exceeding it afterwards."""
        if (loss is None) == (error is None):
            raise ValueError("expected either a loss or an error rate")
        measure, target = ("loss", loss) if loss is not None else ("error", error)
        simulations = self._simulations(measure)
        above = simulations > float(target or 0) + TARGET_TOLERANCE
        after = np.where(above.any(axis=1), simulations.shape[1] - above[:, ::-1].argmax(axis=1), 0)
        reached = after < simulations.shape[1]
        cost = np.where(reached, np.append(self.cost, np.inf)[after], np.inf)
        possible = reached | (self.best[MEASURES.index(measure)] <= float(target or 0) + TARGET_TOLERANCE)
        shares = float(reached.mean()), float(possible.mean())
        return TargetCost(measure, float(target or 0), self._interval(cost), *shares)

    def _simulations(self, measure: str) -> Floats:
        if measure not in MEASURES:
            raise ValueError(f"there is no forecast of {measure!r}, expected 'loss' or 'error'")
        return self.loss if measure == "loss" else self.error

    def _quantiles(self, values: Floats) -> Floats:
        tail = (1 - self.level) / 2
        # Not interpolated, as some are infinite; outward, as they are few.
        low = np.quantile(values, tail, axis=0, method="lower")
        high = np.quantile(values, 1 - tail, axis=0, method="higher")
        return np.stack([low, np.quantile(values, 0.5, axis=0, method="higher"), high])

    def _interval(self, values: Floats) -> PredictionInterval:
        return PredictionInterval(*self._quantiles(values).tolist())

    def _repr_html_(self) -> str:
        ends = {name: self.end(name) for name in ("votes", "spent", *MEASURES)}
        columns = dict(zip(PredictionInterval._fields, zip(*ends.values(), strict=True), strict=True))
        sparks = [curve(self.cost, self.band(name).median, f"{name} by cost") for name in MEASURES]
        summary = f"of {self.items:,} items, per item at the end, with {100 * self.level:g} % intervals"
        return panel("Forecast", summary, table({"": [*ends], **columns}), sparks=sparks)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        ends = {name: self.end(name).to_dict() for name in ("votes", "spent", *MEASURES)}
        bands = {name: {k: v.tolist() for k, v in self.band(name)._asdict().items()} for name in MEASURES}
        return {"items": self.items, "level": self.level, "end": ends, "curves": bands}
