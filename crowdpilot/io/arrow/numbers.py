"""Columns of Arrow tables to numbers: weights, durations and points in time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdpilot.arrays import Floats
from crowdpilot.io.arrow.encoding import vocabulary
from crowdpilot.io.errors import NotANumber
from crowdpilot.io.plain.numbers import HOURS_BEHIND

# Fri May 05 10:11:12 PDT 2017 -> 2017-May-05 10:11:12, in two cities' time
AMERICAN = r"^\w{3} (\w{3}) (\d\d) (\d\d:\d\d:\d\d) (PST|PDT|UTC|GMT) (\d{4})$"


def to_floats(column: pa.ChunkedArray) -> Floats:
    """Numbers, and durations as seconds; NaN where there is none."""
    if pa.types.is_duration(column.type):
        return _floats(column.cast(pa.duration("us")).cast(pa.int64())) / 1e6
    if is_number(column.type):
        return _floats(column)
    return _by_value(column, parse_floats)


def to_times(column: pa.ChunkedArray) -> Floats:
    """Seconds since 1970 of timestamps and texts that hold one; numbers as they are."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return _seconds(column)
    return _floats(column) if is_number(column.type) else _by_value(column, parse_times)


def parse_floats(texts: pa.Array) -> Floats:
    """Numbers written as text."""
    return _floats(texts.cast(pa.float64()))


def parse_times(texts: pa.Array) -> Floats:
    """Times written as text: numbers, ISO 8601 with or without a zone, or as MTurk writes them."""
    iso = pc.replace_substring_regex(texts, r" ?UTC$", "Z")
    readers: list[Callable[[], Floats]] = [
        lambda: parse_floats(texts),
        lambda: _seconds(iso.cast(pa.timestamp("us", "UTC"))),
        lambda: _seconds(iso.cast(pa.timestamp("us"))),
        lambda: _parse_american(texts),
    ]
    for reader in readers[:-1]:
        try:
            return reader()
        except pa.ArrowInvalid:
            continue
    return readers[-1]()


def _parse_american(texts: pa.Array) -> Floats:
    plain = pc.replace_substring_regex(texts, AMERICAN, r"\5-\1-\2 \3")
    zone = pc.replace_substring_regex(texts, AMERICAN, r"\4")
    hours = [HOURS_BEHIND.get(z, 0) for z in zone.to_pylist()]
    behind = np.asarray(hours, np.float64)
    return _seconds(pc.strptime(plain, "%Y-%b-%d %H:%M:%S", "s")) + 3600 * behind


def _by_value(column: pa.ChunkedArray, parse: Callable[[pa.Array], Floats]) -> Floats:
    """Read every distinct text once; an empty one is missing."""
    codes, names = vocabulary(column)
    texts = pc.utf8_trim_whitespace(names.cast(pa.string()))
    empty = pc.equal(texts, "").fill_null(True).to_numpy(zero_copy_only=False)
    values = np.full(len(names) + 1, np.nan)  # the last one is for missing values
    try:
        values[:-1][~empty] = parse(texts.filter(pa.array(~empty)))
    except pa.ArrowInvalid:
        bad = _first_bad(texts, empty, parse)
        raise NotANumber(names[bad].as_py(), int(np.argmax(codes == bad))) from None
    return values[codes]


def _first_bad(texts: pa.Array, empty: np.ndarray, parse: Callable[[pa.Array], Floats]) -> int:
    for n in np.flatnonzero(~empty):
        try:
            parse(texts.slice(n, 1))
        except pa.ArrowInvalid:
            return int(n)
    return int(np.argmin(empty))  # each is fine alone, but they are not written alike


def is_number(kind: pa.DataType) -> bool:
    """Whether a type is one of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _seconds(column: pa.ChunkedArray | pa.Array) -> Floats:
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    return _floats(column.cast(pa.timestamp("us", zone)).cast(pa.int64())) / 1e6


def _floats(column: pa.ChunkedArray | pa.Array) -> Floats:
    values: Floats = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values
