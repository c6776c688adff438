"""Columns to codes and names, always by way of their distinct values."""

from __future__ import annotations

import re

import numpy as np

from crowdpilot.arrays import Codes, Encoded, Names, encode
from crowdpilot.io.engine import Array
from crowdpilot.io.plain.columns import EXACT, NESTED, column, concatenate, kind_of, objects
from crowdpilot.io.plain.values import text_array

NO_NUMBERS = ["NA", "N/A", "NaN", "nan", "null", "NULL", "None"]  # missing, if all else are numbers
WHOLE = r"^(0|-?[1-9][0-9]{0,17})%s$"
ENDINGS = ("", r"\.0")  # whole numbers, as they are or as pandas writes them where some are missing


def vocabulary(column: Encoded) -> tuple[Codes, Names]:
    """The distinct values in the order of their first appearance, and the code of each row."""
    codes, values = column
    if len(values) and isinstance(values[0], NESTED):
        raise ValueError(f"found values of type {kind_of(values)}")
    known = encode(values)
    codes = np.append(known.codes, np.int32(-1))[codes]
    rows = np.flatnonzero(codes >= 0)[::-1]
    first = np.full(len(known.names), len(codes))
    first[codes[rows]] = rows  # the last to be written is the first of its name
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    return _inverse(order, len(first))[codes], known.names[order]


def _inverse(order: np.ndarray, length: int) -> Codes:
    """The place of each number in an order, and -1 for none."""
    place = np.full(length + 1, -1, np.int32)
    place[order] = np.arange(len(order))
    return place


def encode_column(values: Encoded, is_text: bool = False, listed: Array | None = None) -> Encoded:
    """Number the values of a column; nothing, NaN and the empty text are missing; see `Engine`."""
    codes, names = vocabulary(values)
    if listed is not None:
        places, known = column(listed)
        before = known[places[places >= 0]]
        names = concatenate([before, names])
        codes = np.where(codes >= 0, codes + np.int32(len(before)), np.int32(-1))
    tidy = encode_names(names, is_text)
    return Encoded(np.append(tidy.codes, np.int32(-1))[codes], tidy.names)


def encode_names(names: Names, is_text: bool) -> Encoded:
    """The same for values that are few."""
    present, values = _tidy(names, is_text)
    again = encode(values)
    codes = np.full(len(names), -1, np.int32)
    codes[present] = again.codes
    return Encoded(codes, again.names if len(again.names) else values)


def _tidy(names: Names, is_text: bool) -> tuple[np.ndarray, Names]:
    """Which values are present, and those in a type that Votes can hold."""
    if names.dtype == bool:
        return np.ones(len(names), bool), names
    if names.dtype.kind in "iu" and names.dtype != np.uint64:
        return np.ones(len(names), bool), names.astype(np.int64)
    if names.dtype.kind == "f":
        present = ~np.isnan(names)
        return present, _whole_if_possible(names[present].astype(np.float64))
    texts = text_array(names)
    if names.dtype != object or not all(isinstance(name, str) for name in names[:1]):
        return np.ones(len(names), bool), texts
    present = texts != ""
    if is_text and len(numbers := _whole(texts[present].tolist())):
        present = present & ~np.isin(texts, NO_NUMBERS)
        return present, numbers
    return present, texts[present]


def _whole(texts: list[str]) -> Names:
    """The whole numbers that all texts are, but for words for nothing; else none."""
    numbers = [text for text in texts if text not in NO_NUMBERS]
    for ending in ENDINGS:
        is_whole = re.compile(WHOLE % ending).fullmatch
        if all(map(is_whole, numbers)):
            return np.asarray([int(text.removesuffix(".0")) for text in numbers], np.int64)
    return objects([])


def _whole_if_possible(values: Names) -> Names:
    whole = (values == np.floor(values)) & (np.abs(values) < EXACT)
    return values.astype(np.int64) if whole.all() else values
