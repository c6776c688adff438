"""Tables in memory: each column as an array of values and the code of each row."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.io.numbers_and_times import number_text, parse_floats, parse_times
from crowdpilot.names import Encoded, encode

MISSING_NUMBERS = frozenset(
    (" ", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
)  # if all else are numbers
MAX_WHOLE_TEXT = 10**18  # whole numbers in text have at most 18 digits
MAX_WHOLE_FLOAT = 2**53  # up to here a float holds every whole number
Parser = Callable[[Sequence[str]], Floats]


class TableError(ValueError):
    """A table cannot be read or written."""


class NumberError(ValueError):
    """A value is not a number or a time; `row` is the row in which it stands."""

    def __init__(self, value: object, row: int):
        super().__init__(f"found {reprlib.repr(value)}")
        self.row = row


class Column(ABC):
    """The values of one column; subclasses say where they come from."""

    @property
    @abstractmethod
    def encoded(self) -> Encoded:
        """Values and the code of each row, -1 where it is missing; values may repeat."""

    @cached_property
    def distinct(self) -> Encoded:
        """The same with each value once, in the order of its first appearance."""
        codes, values = self.encoded
        if _has_repeats(values):
            known = encode(values)
            codes, values = np.append(known.codes, np.int32(-1))[codes], known.names
        return _by_first_appearance(codes, values)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts."""
        return self.encoded.names.dtype == object

    def __len__(self) -> int:
        return len(self.encoded.codes)

    def values(self, count: int | None = None) -> list[Any]:
        """The first values, or all of them; None where they are missing."""
        codes, values = self.encoded
        known = [*values.tolist(), None]
        return [known[code] for code in codes[:count].tolist()]

    def floats(self) -> Floats:
        """The numbers in the column, NaN where there is none."""
        return self._numbers(parse_floats)

    def times(self) -> Floats:
        """Seconds since 1970 of texts that hold a time; numbers as they are."""
        return self._numbers(parse_times)

    def _numbers(self, parse: Parser) -> Floats:
        codes, values = self.encoded
        if values.dtype.kind in "iuf":
            numbers: Floats = np.append(values.astype(np.float64), np.nan)[codes]
            return numbers
        texts = [value_text(value).strip() for value in values.tolist()]
        filled = [n for n, text in enumerate(texts) if text]
        numbers = np.full(len(texts) + 1, np.nan)  # the last one is for missing values
        try:
            numbers[filled] = parse([texts[n] for n in filled])
        except ValueError:
            wrong = _first_wrong(texts, filled, parse)
            raise NumberError(values[wrong], int(np.argmax(codes == wrong))) from None
        return numbers[codes]

    def filter(self, mask: NDArray[np.bool_]) -> Column:
        """The rows where the mask is true."""
        codes, values = self.encoded
        return EncodedColumn(Encoded(codes[mask], values))


class EncodedColumn(Column):
    """A column of codes and values in memory."""

    def __init__(self, encoded: Encoded):
        self._encoded = encoded

    @property
    def encoded(self) -> Encoded:
        return self._encoded


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, by name or by position; two columns may have the same name."""

    column_names: list[str]
    columns: list[Column]

    def __getitem__(self, name: str) -> Column:
        return self.columns[self.column_names.index(name)]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def select(self, names: Sequence[str]) -> Table:
        """Some of the columns."""
        return Table(list(names), [self[name] for name in names])

    def append_column(self, name: str, column: Column) -> Table:
        """The same table with one more column."""
        return Table([*self.column_names, name], [*self.columns, column])

    def filter(self, mask: NDArray[np.bool_]) -> Table:
        """The rows where the mask is true."""
        return Table(self.column_names, [column.filter(mask) for column in self.columns])


def table_of(columns: Mapping[str, Column]) -> Table:
    """Table of columns of one length."""
    rows = {name: len(column) for name, column in columns.items()}
    if wrong := [name for name, count in rows.items() if count != next(iter(rows.values()))]:
        first = next(iter(rows))
        raise ValueError(f"column {wrong[0]!r} has {rows[wrong[0]]} rows, but {first!r} has {rows[first]}")
    return Table(list(columns), list(columns.values()))


def column_of_names(codes: NDArray[np.integer[Any]], names: Names) -> Column:
    """Column of the names with these codes, missing where the code is -1; mixed types become text."""
    if names.dtype == object and {type(name) for name in names.tolist()} != {str}:
        names = objects([str(name) for name in names.tolist()])
    return EncodedColumn(Encoded(codes.astype(np.int32, copy=False), names))


def without_missing(values: Floats) -> Encoded:
    """The numbers that are not NaN, and the code of each row."""
    present = ~np.isnan(values)
    if present.all():
        return Encoded(np.arange(len(values), dtype=np.int32), values)
    return Encoded(np.where(present, np.cumsum(present) - 1, -1).astype(np.int32), values[present])


def stack(columns: Sequence[Column]) -> Column:
    """One column below the other; of different types, they become numbers or texts."""
    pairs = [column.encoded for column in columns]
    starts = np.cumsum([0, *(len(values) for _, values in pairs)])
    codes = [np.where(c >= 0, c + start, -1) for (c, _), start in zip(pairs, starts[:-1], strict=True)]
    return EncodedColumn(Encoded(np.concatenate(codes).astype(np.int32), _join([v for _, v in pairs])))


def encode_column(column: Column, numbers_as_text: bool = False, first: Names | None = None) -> Encoded:
    """Number the values of a column as names of tasks, workers or classes.

    None, NaN and the empty text are missing. Whole numbers become integers whatever their type.

    Parameters
    ----------
    column
        Texts, numbers or booleans.
    numbers_as_text
        The column had no other way to write numbers than as text: if all its texts are plain whole
        numbers, they become integers. Otherwise text stays text.
    first
        Values that come first, whether they occur or not.
    """
    codes, values = column.distinct
    if first is not None:
        codes = np.where(codes >= 0, codes + np.int32(len(first)), np.int32(-1))
        values = _join([first, values])
    names = encode_names(values, numbers_as_text)
    return Encoded(np.append(names.codes, np.int32(-1))[codes], names.names)


def encode_names(values: Names, numbers_as_text: bool) -> Encoded:
    """The same for an array of values."""
    present, names = _as_names(values, numbers_as_text)
    codes = np.full(len(values), -1, np.int32)
    if not _has_repeats(names):
        codes[present] = np.arange(len(names), dtype=np.int32)
        return Encoded(codes, names)
    again = encode(names)
    codes[present] = again.codes
    return Encoded(codes, again.names)


def _as_names(values: Names, numbers_as_text: bool) -> tuple[NDArray[np.bool_], Names]:
    """Which values are present, and those in a type that Votes can hold."""
    if values.dtype.kind == "f":
        present = ~np.isnan(values)
        floats = values[present].astype(np.float64)
        are_whole = bool(((floats == np.floor(floats)) & (np.abs(floats) < MAX_WHOLE_FLOAT)).all())
        return present, floats.astype(np.int64) if are_whole else floats
    if values.dtype != object:
        return np.ones(len(values), bool), values if values.dtype == bool else values.astype(np.int64)
    present = np.asarray(values != "", bool)
    texts = values[present].tolist()
    numbers = [text for text in texts if text not in MISSING_NUMBERS] if numbers_as_text else []
    if len(integers := _whole_numbers(numbers)):
        return present & ~np.isin(values, list(MISSING_NUMBERS)), integers
    return present, objects(texts)


def _whole_numbers(texts: list[str]) -> Names:
    """The whole numbers that all texts are, as such or as pandas writes them (`12.0`); else none."""
    plain = [text[:-2] for text in texts] if all(text.endswith(".0") for text in texts) else texts
    try:
        numbers = [int(text) for text in plain]
    except ValueError:
        return objects([])
    is_canonical = list(map(str, numbers)) == plain and all(abs(n) < MAX_WHOLE_TEXT for n in numbers)
    return np.asarray(numbers, np.int64) if is_canonical else objects([])


def _by_first_appearance(codes: Codes, values: Names) -> Encoded:
    """The values that occur, in the order in which they do."""
    rows = np.flatnonzero(codes >= 0)[::-1]
    first = np.full(len(values), len(codes))
    first[codes[rows]] = rows  # the last assignment is the first appearance
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    new = np.full(len(values) + 1, -1, np.int32)
    new[order] = np.arange(len(order))
    return Encoded(new[codes], values[order])


def _first_wrong(texts: list[str], filled: list[int], parse: Parser) -> int:
    for n in filled:
        try:
            parse([texts[n]])
        except ValueError:
            return n
    return filled[0]  # each is fine alone, but they are not written alike


def _join(arrays: Sequence[Names]) -> Names:
    """Values of several arrays in one: numbers if all are numbers, else texts."""
    filled = [array for array in arrays if len(array)]
    kinds = {array.dtype.kind for array in filled}
    if len(kinds) > 1:
        are_numbers = kinds <= set("iuf")
        filled = [
            array.astype(np.float64) if are_numbers else objects(list(map(value_text, array.tolist())))
            for array in filled
        ]
    return np.concatenate(filled) if filled else objects([])


def value_text(value: Any) -> str:
    """The text of one value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, float) else str(value)


def objects(values: Sequence[Any]) -> Names:
    """Array of objects."""
    return np.fromiter(values, object, len(values))


def _has_repeats(values: Names) -> bool:
    try:
        distinct = np.unique(values) if values.dtype != object else set(values.tolist())
        return len(distinct) < len(values)
    except TypeError as error:
        raise TableError(f"found values of type {type(values[0]).__name__}") from error
