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


def test_limiters_over_one_file_count_together(tmp_path):
    one, other = (RateLimiter(rate=0.001, burst=2, file=tmp_path / "limits") for _ in range(2))
    assert [one.allows("ann", 0), other.allows("ann", 0)] == [True, True]
    assert [one.allows("ann", 0), other.allows("ann", 0)] == [False, False]
    assert other.allows("eve", 0)


def test_one_who_shares_a_slot_with_a_busy_caller_is_not_refused(monkeypatch):
    monkeypatch.setattr(rate_limits, "SLOTS", 4)
    slots = {"busy": (0, 4), "other": (0, 5)}
    monkeypatch.setattr(rate_limits, "_slots", lambda caller, key: slots[caller])
    bucket = RateLimiter(rate=1, burst=1)
    assert [bucket.allows("busy", 0), bucket.allows("busy", 0), bucket.allows("other", 0)] == [
        True,
        False,
        True,
    ]


def test_many_callers_rarely_share_both_slots():
    bucket = RateLimiter(rate=0.001, burst=1, secret="x")
    assert sum(bucket.allows(("address", str(n)), 0) for n in range(10_000)) > 9_950


def test_slots_depend_on_the_secret():
    assert rate_limits._slots("ann", b"one") != rate_limits._slots("ann", b"other")
