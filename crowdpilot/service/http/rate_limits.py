"""Rate limits: a token bucket for each caller."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from crowdpilot.service.errors import RateLimitError

MAX_CALLERS = 100_000  # the one that has been silent longest is forgotten first
TOO_MANY_REQUESTS = "these are too many requests; wait a moment and try again"


class RateLimiter:
    """Token buckets that fill with time: each request takes one token, and an empty bucket refuses.

    Parameters
    ----------
    rate
        Requests per second in the long run.
    burst
        Requests at once.

    Examples
    --------
    >>> limiter = RateLimiter(rate=1, burst=2)
    >>> [limiter.allows("ann", now) for now in (0.0, 0.0, 0.0, 1.0)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # tokens, and since when

    def allows(self, caller: Hashable, now: float) -> bool:
        """Whether a caller may make one more request at this time in seconds."""
        tokens, then = self._buckets.pop(caller, (float(self.burst), now))
        tokens = min(self.burst, tokens + (now - then) * self.rate)
        allowed = tokens >= 1
        self._buckets[caller] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return allowed

    def check(self, caller: Hashable, now: float) -> None:
        """Raise a `RateLimitError` if a caller may not make one more request."""
        if not self.allows(caller, now):
            raise RateLimitError(TOO_MANY_REQUESTS)
