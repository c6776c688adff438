"""Curves of what is lost against what is spent, as they may come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Floats

MEASURES = ("loss", "error")


class Interval(NamedTuple):
    """A number that is not known: its median, and between what it probably lies."""

    low: float
    middle: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """Plain numbers that JSON can hold, None for what is never reached."""
        return {name: value if np.isfinite(value) else None for name, value in self._asdict().items()}


class Band(NamedTuple):
    """A curve that is not known, over the cost for each item."""

    cost: Floats
    low: Floats
    middle: Floats
    high: Floats


@dataclass(frozen=True)
class Answer:
    """What it costs to come down to a target.

    Parameters
    ----------
    measure, target
        What is to be at most how much.
    cost
        For each item, what was spent before included; infinite where the target is not reached.
    reached
        How probably the campaign reaches the target before it ends by itself.
    possible
        How probably this crowd could reach it, were it asked without end.
    """

    measure: str
    target: float
    cost: Interval
    reached: float
    possible: float

    def __str__(self) -> str:
        what = f"{self.measure} {self.target:g}"
        if self.possible < 0.5:
            return f"{what} is probably not reachable with this crowd"
        if self.reached < 0.5:
            return f"{what} is probably not reached: the campaign ends before"
        high = f"{self.cost.high:.3g}" if np.isfinite(self.cost.high) else "never"
        return f"{what} costs {self.cost.middle:.3g} for each item ({self.cost.low:.3g} to {high})"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        shares = {"reached": self.reached, "possible": self.possible}
        return {"measure": self.measure, "target": self.target, "cost": self.cost.to_dict(), **shares}


@dataclass(frozen=True, eq=False)
class Forecast:
    """How a campaign may go on, in many ways that are equally probable.

    All numbers are for each item, and count what was spent before.

    Parameters
    ----------
    items
        How many there are.
    level
        How often intervals should hold the truth.
    cost
        Points on the way, (points,).
    loss, error
        What wrong decisions cost and their share, if so much has been spent; (ways, points).
    best
        The same for a crowd that is asked without end: rows of loss and error, (2, ways).
    votes, spent
        In the end, (ends,).
    """

    items: int
    level: float
    cost: Floats
    loss: Floats
    error: Floats
    best: Floats
    votes: Floats
    spent: Floats

    def band(self, measure: str = "loss") -> Band:
        """The curve of "loss" or "error" with its interval at every cost."""
        return Band(self.cost, *self._quantiles(self._ways(measure)))

    def at(self, cost: float, measure: str = "loss") -> Interval:
        """Loss or error if so much is spent on each item; what a campaign that ends before has then."""
        ways = self._ways(measure)
        place = np.interp(cost, self.cost, np.arange(len(self.cost)))
        left, share = int(place), place - int(place)
        right = min(left + 1, len(self.cost) - 1)
        return self._interval((1 - share) * ways[:, left] + share * ways[:, right])

    def end(self, measure: str = "loss") -> Interval:
        """When the campaign ends by itself: "votes", "spent", "loss" or "error"."""
        if measure in ("votes", "spent"):
            return self._interval(self.votes if measure == "votes" else self.spent)
        return self._interval(self._ways(measure)[:, -1])

    def cost_of(self, *, loss: float | None = None, error: float | None = None) -> Answer:
        """What it costs to come down to a loss or to an error rate, and to stay there."""
        if (loss is None) == (error is None):
            raise ValueError("expected either a loss or an error rate")
        measure, target = ("loss", loss) if loss is not None else ("error", error)
        ways = self._ways(measure)
        above = ways > float(target or 0) + 1e-12
        after = np.where(above.any(axis=1), ways.shape[1] - above[:, ::-1].argmax(axis=1), 0)
        reached = after < ways.shape[1]
        cost = np.where(reached, np.append(self.cost, np.inf)[after], np.inf)
        possible = reached | (self.best[MEASURES.index(measure)] <= float(target or 0) + 1e-12)
        shares = float(reached.mean()), float(possible.mean())
        return Answer(measure, float(target or 0), self._interval(cost), *shares)

    def _ways(self, measure: str) -> Floats:
        if measure not in MEASURES:
            raise ValueError(f"there is no forecast of {measure!r}, expected 'loss' or 'error'")
        return self.loss if measure == "loss" else self.error

    def _quantiles(self, values: Floats) -> Floats:
        tail = (1 - self.level) / 2
        # Not between two values, as some are infinite; outward, as they are few.
        low = np.quantile(values, tail, axis=0, method="lower")
        high = np.quantile(values, 1 - tail, axis=0, method="higher")
        return np.stack([low, np.quantile(values, 0.5, axis=0, method="higher"), high])

    def _interval(self, values: Floats) -> Interval:
        return Interval(*self._quantiles(values).tolist())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold."""
        ends = {name: self.end(name).to_dict() for name in ("votes", "spent", *MEASURES)}
        bands = {name: {k: v.tolist() for k, v in self.band(name)._asdict().items()} for name in MEASURES}
        return {"items": self.items, "level": self.level, "end": ends, "curves": bands}
