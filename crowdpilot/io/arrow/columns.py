"""Tables and columns of Arrow, made of anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import interchange

from crowdpilot.arrays import Names
from crowdpilot.io.arrow.numbers import is_number
from crowdpilot.io.engine import Integers
from crowdpilot.io.plain.columns import to_texts


def as_table(source: Any) -> pa.Table:
    """Arrow table of any data frame, or of a mapping of columns."""
    if isinstance(source, Mapping):
        return table({str(name): column(given) for name, given in source.items()})
    if hasattr(source, "__dataframe__") and not hasattr(source, "__arrow_c_stream__"):
        return interchange.from_dataframe(source)
    return pa.table(source)


def table(columns: Mapping[str, Any]) -> pa.Table:
    """Arrow table of columns and arrays."""
    return pa.table(dict(columns))


def column(values: Any) -> pa.Array:
    """Arrow column of any values; if they are of several types, they all become text."""
    try:
        return pa.array(values, from_pandas=True)
    except (TypeError, ValueError, OverflowError):
        return pa.array(to_texts(values), pa.string())


def names(names: Names) -> pa.Array:
    """Arrow column of names; those of mixed types become text."""
    if names.dtype == object and {type(name) for name in names.tolist()} != {str}:
        return pa.array([str(name) for name in names.tolist()], pa.string())
    return pa.array(names)


def named(codes: Integers, known: Names | pa.Array) -> pa.DictionaryArray:
    """Arrow column of names by their codes; missing where the code is -1."""
    values = known if isinstance(known, pa.Array) else names(known)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32(), mask=codes < 0), values)


def stack(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """One column below the other; of different types, they meet as numbers or as texts."""
    kinds = {column.type for column in columns} - {pa.null()}
    common = kinds.pop() if len(kinds) == 1 else pa.float64() if all(map(is_number, kinds)) else pa.string()
    return pa.chunked_array([c for column in columns for c in column.cast(common).chunks], common)


def values(column: Any, count: int | None = None) -> list[Any]:
    """The first values, or all of them."""
    found: list[Any] = column[:count].to_pylist()
    return found


def to_text(values: pa.Array) -> pa.Array:
    """Values of any type as text."""
    return values.cast(pa.string())


def release() -> None:
    """Give back the memory of tables that are gone."""
    pa.default_memory_pool().release_unused()
