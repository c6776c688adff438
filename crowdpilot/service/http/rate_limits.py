"""Rate limits: token buckets of callers in memory that all processes of a service share."""

from __future__ import annotations

import mmap
import os
from collections.abc import Hashable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from crowdpilot.service.errors import RateLimitError, translatable

SLOTS = 1 << 18  # in each of two rows: 4 MiB for a limiter, of which only what is used takes memory
BYTES_PER_SLOT = 8
MAX_CALLERS_CACHED = 10_000  # whose slots are not computed again
ROUNDING_SECONDS = 1e-7  # times are sums of rounded numbers
TOO_MANY_REQUESTS = translatable("these are too many requests; wait a moment and try again")


class RateLimiter:
    """Token buckets that fill with time: each request takes one token, and an empty bucket refuses.

    A bucket is one number: the time at which it would be full again (the generic cell rate algorithm).
    Writing it takes no lock, so that two requests in the same microsecond may count as one. Each caller has
    two slots by a keyed hash of their name, and the lower number counts: another caller in one of the slots
    does no harm, and nobody has to be forgotten.

    Parameters
    ----------
    rate
        Requests per second in the long run.
    burst
        Requests at once.
    file
        A file that all processes use; without one, the limits are those of this process.
    secret
        The key of the hash, the same in all processes, so that nobody can aim at a slot.

    Examples
    --------
    >>> limiter = RateLimiter(rate=1, burst=2)
    >>> [limiter.allows("ann", now) for now in (0.0, 0.0, 0.0, 1.0)]
    [True, True, False, True]
    """

    def __init__(self, rate: float, burst: int, *, file: Path | None = None, secret: str = "") -> None:
        self._interval = 1 / rate  # seconds for one token
        self._depth = burst / rate + ROUNDING_SECONDS  # seconds until an empty bucket is full
        self._full_at = memoryview(_memory(file)).cast("d")
        key = blake2b(secret.encode()).digest()
        self._slots = lru_cache(MAX_CALLERS_CACHED)(lambda caller: _slots(caller, key))

    def allows(self, caller: Hashable, now: float) -> bool:
        """Whether a caller may make one more request at this time in seconds."""
        one, other = self._slots(caller)
        times = self._full_at
        in_one, in_other = times[one], times[other]
        full_at = max(min(in_one, in_other), now) + self._interval
        if full_at - now > self._depth:
            return False
        if full_at > in_one:
            times[one] = full_at
        if full_at > in_other:
            times[other] = full_at
        return True

    def check(self, caller: Hashable, now: float) -> None:
        """Raise a `RateLimitError` if a caller may not make one more request."""
        if not self.allows(caller, now):
            raise RateLimitError(TOO_MANY_REQUESTS)


def _slots(caller: Hashable, key: bytes) -> tuple[int, int]:
    """The slots of a caller, one in each row."""
    digest = blake2b(repr(caller).encode(), digest_size=8, key=key).digest()
    return int.from_bytes(digest[:4]) % SLOTS, SLOTS + int.from_bytes(digest[4:]) % SLOTS


def _memory(file: Path | None) -> mmap.mmap:
    """Zeros in memory, or in a file that is made if need be."""
    size = 2 * SLOTS * BYTES_PER_SLOT
    if file is None:
        return mmap.mmap(-1, size)
    number = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(number, size)
        return mmap.mmap(number, size)
    finally:
        os.close(number)
