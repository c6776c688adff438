"""Tables without Arrow: of each column the distinct values, or all of them, and the code of each row."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Encoded, Names, is_missing, need_arrow
from crowdpilot.io.plain.values import text_array

NESTED = (list, tuple, dict, np.ndarray)
ALIKE = (*NESTED, datetime.datetime, datetime.date, datetime.timedelta, Decimal, bytes)
PROTOCOLS = ("__arrow_c_stream__", "__dataframe__")
MOST = (1 << 63) - 1
EXACT = 1 << 53  # up to here a float holds every whole number


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name or place; the codes of a column point to values of one type, none of them missing."""

    column_names: list[str]
    columns: list[Encoded]

    def __getitem__(self, name: str) -> Encoded:
        return self.columns[self.column_names.index(name)]

    def column(self, place: int) -> Encoded:
        """The column at a place."""
        return self.columns[place]

    def append_column(self, name: str, column: Encoded) -> Table:
        """The same table with one more column."""
        return Table([*self.column_names, name], [*self.columns, column])

    def filter(self, mask: NDArray[np.bool_]) -> Table:
        """Some of the rows."""
        return Table(self.column_names, [Encoded(codes[mask], values) for codes, values in self.columns])


def as_table(source: Any) -> Table:
    """Table of a mapping of columns, or of a frame of pandas or polars, or of one like theirs."""
    if isinstance(source, Table):
        return source
    if isinstance(source, Mapping):
        return table({str(name): column(given) for name, given in source.items()})
    if any(name is not None for name in getattr(getattr(source, "index", None), "names", ())):
        source = source.reset_index()  # pandas: a named index is a column too
    try:
        columns = {str(name): source[name].to_list() for name in source.columns}
    except (AttributeError, TypeError, LookupError) as error:
        if any(hasattr(source, way) for way in PROTOCOLS):
            need_arrow("such a table")
        raise TypeError("found no columns") from error
    return table(columns)


def table(columns: Mapping[str, Any]) -> Table:
    """Table of columns and arrays."""
    made = {name: column(given) for name, given in columns.items()}
    rows = {name: len(codes) for name, (codes, _) in made.items()}
    if wrong := [name for name, count in rows.items() if count != next(iter(rows.values()))]:
        first = next(iter(rows))
        raise ValueError(f"column {wrong[0]!r} has {rows[wrong[0]]} rows, but {first!r} has {rows[first]}")
    return Table(list(made), list(made.values()))


def column(values: Any) -> Encoded:
    """Column of any values; if they are of several types, they all become text."""
    if isinstance(values, Encoded):
        return values
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufmM":
        missing = np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
        return Encoded(_places(~missing), values[~missing])
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    here = [not _is_missing(value) for value in listed]
    return Encoded(
        _places(here), of_one_type([v for v, is_here in zip(listed, here, strict=True) if is_here])
    )


def _places(here: NDArray[np.bool_] | list[bool]) -> Codes:
    present = np.asarray(here, bool)
    return np.where(present, np.cumsum(present) - 1, -1).astype(np.int32)


def _is_missing(value: Any) -> bool:
    return not isinstance(value, NESTED) and (type(value).__name__ == "NAType" or is_missing(value))


def of_one_type(values: list[Any]) -> Names:
    """Array of numbers, or of objects of one type."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    kinds = set(map(type, plain))
    try:
        if kinds and (kinds <= {int} or kinds == {bool}):
            return _whole(plain) if int in kinds else np.asarray(plain)
        if float in kinds and kinds <= {int, float} and all(abs(v) <= EXACT for v in plain if type(v) is int):
            return np.asarray(plain, np.float64)
    except OverflowError:
        pass
    is_kept = kinds <= {str} or any(all(issubclass(kind, known) for kind in kinds) for known in ALIKE)
    return objects(plain if is_kept else to_texts(plain))


def _whole(values: list[int]) -> Names:
    return np.asarray(values, np.uint64 if max(values) > MOST and min(values) >= 0 else np.int64)


def objects(values: Sequence[Any]) -> Names:
    """Array of objects, even if they are lists of one length."""
    return np.fromiter(values, object, len(values))


def to_texts(values: Iterable[Any]) -> list[str | None]:
    """Texts of values of any types."""
    return [_text(value) for value in values]


def _text(value: Any) -> str | None:
    if isinstance(value, (list, dict)):
        raise TypeError(f"found {str(value)[:40]}, expected one text or number")
    return None if is_missing(value) else str(value)


def names(names: Names) -> Names:
    """Names of tasks, workers or classes; those of mixed types become text."""
    if names.dtype == object and {type(name) for name in names.tolist()} != {str}:
        return objects([str(name) for name in names.tolist()])
    return names


def named(codes: NDArray[np.integer[Any]], known: Any) -> Encoded:
    """Names by their codes; missing where the code is -1."""
    inner, values = known if isinstance(known, Encoded) else column(names(known))
    return Encoded(np.append(inner, np.int32(-1))[codes], values)


def to_text(values: Any) -> Encoded:
    """Values of any type as text."""
    codes, known = column(values)
    return Encoded(codes, text_array(known))


def stack(columns: Sequence[Encoded]) -> Encoded:
    """One column below the other; of different types, they meet as numbers or as texts."""
    starts = np.cumsum([0, *(len(values) for _, values in columns)])
    codes = [np.where(c >= 0, c + start, -1) for (c, _), start in zip(columns, starts[:-1], strict=True)]
    return Encoded(np.concatenate(codes).astype(np.int32), concatenate([values for _, values in columns]))


def concatenate(arrays: Sequence[Names]) -> Names:
    """Values of several arrays, of one type."""
    filled = [array for array in arrays if len(array)]
    kinds = {kind_of(array) for array in filled}
    if len(kinds) > 1:
        are_numbers = kinds <= {"int64", "float64", "uint64"}
        filled = [array.astype(np.float64) if are_numbers else text_array(array) for array in filled]
    return np.concatenate(filled) if filled else objects([])


def kind_of(values: Names) -> str:
    """The name of the type of values."""
    return type(values[0]).__name__ if values.dtype == object and len(values) else values.dtype.name


def values(column: Any, count: int | None = None) -> list[Any]:
    """The first values, or all of them; None where they are missing."""
    if not isinstance(column, Encoded):
        return list(column[:count])
    known = [*column.names.tolist(), None]
    return [known[code] for code in column.codes[:count].tolist()]


def release() -> None:
    """Nothing: memory is given back by itself."""
