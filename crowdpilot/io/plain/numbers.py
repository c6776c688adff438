"""Columns to numbers: weights, durations and points in time."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from crowdpilot.arrays import Encoded, Floats, Names
from crowdpilot.io.errors import NotANumber
from crowdpilot.io.plain.encoding import vocabulary
from crowdpilot.io.plain.values import text_array

NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.IGNORECASE | re.ASCII)
MOMENT = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"([ T](?P<hour>\d\d)(:(?P<minute>\d\d)(:(?P<second>\d\d)(\.(?P<part>\d{1,6}))?)?)?"
    r"(?P<zone>Z|(?P<sign>[+-])(?P<hours>\d\d)(:?(?P<minutes>\d\d))?)?)?",
    re.ASCII,
)
PARTS = ("year", "month", "day", "hour", "minute", "second", "hours", "minutes")
# Fri May 05 10:11:12 PDT 2017, in two cities' time
AMERICAN = re.compile(r"\w{3} (\w{3}) (\d\d) (\d\d):(\d\d):(\d\d) (PST|PDT|UTC|GMT) (\d{4})", re.ASCII)
HOURS_BEHIND = {"PST": 8, "PDT": 7}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
START = datetime.datetime(1970, 1, 1)  # all times are taken as UTC
TICK = datetime.timedelta(microseconds=1)
TIMES, SPANS = (datetime.date,), (datetime.timedelta,)


def to_floats(column: Encoded) -> Floats:
    """Numbers, and durations as seconds; NaN where there is none."""
    if _holds(column.names, "m", SPANS):
        return _spread(column, _seconds(column.names, "m8[us]"))
    return _spread(column, column.names) if _are_numbers(column.names) else _by_value(column, parse_floats)


def to_times(column: Encoded) -> Floats:
    """Seconds since 1970 of timestamps and texts that hold one; numbers as they are."""
    if _holds(column.names, "M", TIMES):
        return _spread(column, _seconds(column.names, "M8[us]"))
    return _spread(column, column.names) if _are_numbers(column.names) else _by_value(column, parse_times)


def parse_floats(texts: list[str]) -> list[float]:
    """Numbers written as text."""
    if wrong := [text for text in texts if not NUMBER.fullmatch(text)]:
        raise ValueError(wrong[0])
    return list(map(float, texts))


def parse_times(texts: list[str]) -> list[float]:
    """Times written as text: numbers, ISO 8601 with or without a zone, or as MTurk writes them."""
    iso = [re.sub(r" ?UTC\Z", "Z", text) for text in texts]
    readers: list[Callable[[], list[float]]] = [
        lambda: parse_floats(texts),
        lambda: [_parse_moment(text, has_zone=True) for text in iso],
        lambda: [_parse_moment(text, has_zone=False) for text in iso],
        lambda: [_parse_american(text) for text in texts],
    ]
    for reader in readers[:-1]:
        try:
            return reader()
        except ValueError:
            continue
    return readers[-1]()


def _parse_moment(text: str, has_zone: bool) -> float:
    found = MOMENT.fullmatch(text)
    if found is None or (found["zone"] is not None) != has_zone:
        raise ValueError(text)
    year, month, day, hour, minute, second, hours, minutes = (int(found[name] or 0) for name in PARTS)
    if hours > 23 or minutes > 59:
        raise ValueError(text)
    ahead = datetime.timedelta(hours=hours, minutes=minutes)
    micro = int((found["part"] or "").ljust(6, "0"))
    moment = datetime.datetime(year, month, day, hour, minute, second, micro)
    return _since_start(moment + ahead if found["sign"] == "-" else moment - ahead)


def _parse_american(text: str) -> float:
    found = AMERICAN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    name, day, hour, minute, second, zone, year = found.groups()
    month = MONTHS.index(name.lower()) + 1
    moment = datetime.datetime(int(year), month, int(day), int(hour), int(minute), int(second))
    return _since_start(moment) + 3600 * HOURS_BEHIND.get(zone, 0)


def _since_start(moment: datetime.datetime) -> float:
    return (moment - START) // TICK / 1e6


def _by_value(column: Encoded, parse: Callable[[list[str]], list[float]]) -> Floats:
    """Read every distinct text once; an empty one is missing."""
    codes, names = vocabulary(column)
    texts = [text.strip() for text in text_array(names).tolist()]
    filled = [n for n, text in enumerate(texts) if text]
    numbers = np.full(len(texts), np.nan)
    try:
        numbers[filled] = parse([texts[n] for n in filled])
    except ValueError:
        bad = _first_bad(texts, filled, parse)
        raise NotANumber(names[bad], int(np.argmax(codes == bad))) from None
    return _spread(Encoded(codes, names), numbers)


def _first_bad(texts: list[str], filled: list[int], parse: Callable[[list[str]], list[float]]) -> int:
    for n in filled:
        try:
            parse([texts[n]])
        except ValueError:
            return n
    return filled[0]  # each is fine alone, but they are not written alike


def _spread(column: Encoded, numbers: Names) -> Floats:
    """The number of each row, by that of its value."""
    spread: Floats = np.append(numbers.astype(np.float64), np.nan)[column.codes]
    return spread


def _seconds(values: Names, unit: str) -> Floats:
    """Times and durations, of whatever library."""
    if values.dtype == object:
        values = np.asarray([_naive(value) for value in values.tolist()], unit)
    return values.astype(unit).astype(np.int64) / 1e6


def _naive(value: Any) -> Any:
    has_zone = isinstance(value, datetime.datetime) and value.tzinfo is not None
    return value.astimezone(datetime.UTC).replace(tzinfo=None) if has_zone else value


def _are_numbers(values: Names) -> bool:
    return _holds(values, "iuf", (Decimal,))


def _holds(values: Names, kinds: str, types: tuple[type, ...]) -> bool:
    return values.dtype.kind in kinds or (len(values) > 0 and isinstance(values[0], types))
