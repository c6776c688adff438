"""Numbers and times as text: what is written is read again, and nothing else passes for a number."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.io.numbers_and_times import number_text, parse_floats, parse_times

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TIMES = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1))


@given(numbers=st.lists(FINITE))
def test_the_text_of_a_number_is_read_as_the_same_number(numbers):
    np.testing.assert_array_equal(parse_floats([number_text(number) for number in numbers]), numbers)


@given(number=FINITE)
def test_only_very_small_and_very_large_numbers_have_an_exponent(number):
    assert ("e" in number_text(number)) == (number != 0 and not 1e-6 <= abs(number) < 1e10)


@given(number=st.integers(-(10**9), 10**9))
def test_a_whole_number_is_written_without_a_point(number):
    assert number_text(float(number)) == str(number)


@pytest.mark.parametrize("text", ["1_000", "١", "", "one", "0x1"])
def test_only_plain_numbers_are_parsed(text):
    with pytest.raises(ValueError):
        parse_floats(["1", text])


@given(times=st.lists(TIMES, min_size=1), separator=st.sampled_from("T "))
def test_a_time_without_a_zone_is_in_utc(times, separator):
    expected = [time.replace(tzinfo=datetime.UTC).timestamp() for time in times]
    texts = [time.isoformat(separator) for time in times]
    np.testing.assert_allclose(parse_times(texts), expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(parse_times([f"{text}Z" for text in texts]), parse_times(texts))


@given(time=TIMES, minutes=st.integers(-14 * 60, 14 * 60))
def test_a_zone_is_an_offset_from_utc(time, minutes):
    zone = datetime.timezone(datetime.timedelta(minutes=minutes))
    local = time.replace(tzinfo=datetime.UTC).astimezone(zone)
    np.testing.assert_array_equal(parse_times([local.isoformat()]), parse_times([f"{time.isoformat()}Z"]))


@pytest.mark.parametrize(("zone", "hours"), [("UTC", 0), ("GMT", 0), ("PDT", 7), ("PST", 8)])
def test_times_of_mturk_are_parsed(zone, hours):
    expected = datetime.datetime(2017, 5, 5, 10 + hours, 11, 12, tzinfo=datetime.UTC).timestamp()
    assert parse_times([f"Fri May 05 10:11:12 {zone} 2017"]).tolist() == [expected]


def test_numbers_are_seconds_already():
    assert parse_times(["12.5", "-1"]).tolist() == [12.5, -1]


def test_times_that_are_not_written_alike_are_an_error():
    with pytest.raises(ValueError):
        parse_times(["2020-01-01T00:00:00Z", "2020-01-01T00:00:00"])
