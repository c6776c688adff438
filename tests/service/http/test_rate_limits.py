from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http import rate_limits
from crowdpilot.service.http.rate_limits import RateLimiter


@given(st.lists(st.floats(0, 2), max_size=60), st.integers(1, 5))
def test_no_caller_gets_more_than_rate_and_burst_allow(waits, burst):
    bucket, now, taken = RateLimiter(rate=2, burst=burst), 0.0, 0
    for wait in waits:
        now += wait
        taken += bucket.allows("ann", now)
        assert taken <= burst + 2 * now + 1e-6


def test_each_caller_has_a_bucket_of_their_own():
    bucket = RateLimiter(rate=1, burst=1)
    assert bucket.allows("ann", 0)
    assert bucket.allows("eve", 0)
    assert not bucket.allows("ann", 0)


def test_a_caller_with_too_many_requests_has_to_wait():
    bucket = RateLimiter(rate=1, burst=1)
    bucket.check("ann", 0)
    with pytest.raises(RequestError, match="wait") as refused:
        bucket.check("ann", 0.1)
    assert refused.value.status == 429


def test_the_caller_that_is_silent_longest_is_forgotten(monkeypatch):
    monkeypatch.setattr(rate_limits, "MAX_CALLERS", 2)
    bucket = RateLimiter(rate=0.001, burst=1)
    for who in "abc":
        bucket.allows(who, 0)
    assert len(bucket._buckets) == 2
