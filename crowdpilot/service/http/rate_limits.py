"""Limits: how often somebody may ask, and how much they may send."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from crowdpilot.service.errors import RateLimitError

REMEMBERED = 100_000  # callers; who has been silent longest is forgotten first


class Limits:
    """Buckets that fill with time: each request takes from one, and an empty one refuses.

    Parameters
    ----------
    rate
        Requests per second in the long run.
    burst
        Requests at once.

    Examples
    --------
    >>> limits = Limits(rate=1, burst=2)
    >>> [limits.take("ann", now) for now in (0.0, 0.0, 0.0, 1.0)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, who: Hashable, now: float) -> bool:
        """Whether one more request is allowed."""
        level, then = self._buckets.pop(who, (float(self.burst), now))
        level = min(self.burst, level + (now - then) * self.rate)
        allowed = level >= 1
        self._buckets[who] = (level - 1 if allowed else level, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return allowed

    def check(self, who: Hashable, now: float) -> None:
        """Raise a RateLimitError if it is not."""
        if not self.take(who, now):
            raise RateLimitError("these are too many requests; wait a moment and try again")
