"""Numbers and times written as text: parsing them, and the shortest text of a float."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import repeat

import numpy as np

from crowdpilot.arrays import Floats

ISO_8601 = re.compile(
    r"\d{4}-\d\d-\d\d([ T]([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?"
    r"(?P<zone>Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?",
    re.ASCII,
)
# Fri May 05 10:11:12 PDT 2017
MTURK_TIME = re.compile(r"\w{3} (\w{3} \d\d \d\d:\d\d:\d\d) (PST|PDT|UTC|GMT) (\d{4})", re.ASCII)
HOURS_BEHIND_UTC = {"PST": 8, "PDT": 7}
EPOCH = datetime.datetime(1970, 1, 1)  # times without a zone are taken as UTC
EPOCH_UTC = EPOCH.replace(tzinfo=datetime.UTC)
MIN_SECONDS = (datetime.datetime.min - EPOCH).total_seconds()  # since 1970, of the year 1
MAX_SECONDS = (datetime.datetime.max.replace(microsecond=0) - EPOCH).total_seconds()  # of the year 9999
MICROSECOND = datetime.timedelta(microseconds=1)
PLAIN_RANGE = 1e-6, 1e10  # between them, numbers are written without an exponent


def utc_datetime(seconds: float | None) -> datetime.datetime | None:
    """The time at so many seconds since 1970, in UTC; None if they are no number.

    What lies outside the years 1 to 9999 is the first or the last second of them.

    Examples
    --------
    >>> utc_datetime(1.7e9).isoformat(), utc_datetime(1e300).year, utc_datetime(float("nan"))
    ('2023-11-14T22:13:20+00:00', 9999, None)
    """
    if seconds is None or math.isnan(seconds):
        return None
    return datetime.datetime.fromtimestamp(min(max(seconds, MIN_SECONDS), MAX_SECONDS), datetime.UTC)


def parse_floats(texts: Sequence[str]) -> Floats:
    """Numbers written as text."""
    joined = "".join(texts)
    if "_" in joined or not joined.isascii():  # what Python takes for a number, and nobody else
        raise ValueError("found text that is no number")
    return np.fromiter(map(float, texts), np.float64, len(texts))


def parse_times(texts: Sequence[str]) -> Floats:
    """Seconds since 1970 of times that are all written alike.

    They are numbers, ISO 8601 with or without a zone, or written as MTurk does.
    """
    parsers: list[Callable[[], Floats]] = [
        lambda: parse_floats(texts),
        lambda: _parse_each(_parse_iso, texts, True),
        lambda: _parse_each(_parse_iso, texts, False),
    ]
    for parse in parsers:
        try:
            return parse()
        except ValueError:
            continue
    return _parse_each(_parse_mturk, texts, True)


def _parse_each(parse: Callable[[str, bool], float], texts: Sequence[str], has_zone: bool) -> Floats:
    return np.fromiter(map(parse, texts, repeat(has_zone)), np.float64, len(texts))


def _parse_iso(text: str, has_zone: bool) -> float:
    text = text.removesuffix("UTC").removesuffix(" ") + "Z" if text.endswith("UTC") else text
    match = ISO_8601.fullmatch(text)
    if match is None or (match["zone"] is not None) != has_zone:
        raise ValueError(text)
    time = datetime.datetime.fromisoformat(text)
    return (time - (EPOCH_UTC if has_zone else EPOCH)) // MICROSECOND / 1e6


def _parse_mturk(text: str, has_zone: bool) -> float:
    match = MTURK_TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    time = datetime.datetime.strptime(f"{match[1]} {match[3]}", "%b %d %H:%M:%S %Y")
    return (time - EPOCH) // MICROSECOND / 1e6 + 3600 * HOURS_BEHIND_UTC.get(match[2], 0)


def number_text(number: float) -> str:
    """The shortest text that is read as this number again.

    Examples
    --------
    >>> [number_text(number) for number in (1.0, 0.25, 0.00001, 1e-9, 12345678901.0)]
    ['1', '0.25', '0.00001', '1e-9', '1.2345678901e+10']
    """
    text = repr(number)
    low, high = PLAIN_RANGE
    if not np.isfinite(number) or ("e" not in text and abs(number) < high):
        return text.removesuffix(".0")
    sign, digits, exponent = Decimal(text).normalize().as_tuple()
    if low <= abs(number) < high:
        return f"{Decimal(text):f}"
    first, rest = digits[0], "".join(map(str, digits[1:]))
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{first}{f'.{rest}' if rest else ''}e{power:+d}"
