"""Tables by Arrow: CSV, JSON lines, Parquet and data frames, read and written quickly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json
from pyarrow import interchange

from crowdpilot.arrays import Floats, Names
from crowdpilot.io.columns import Column, EncodedColumn, Table, TableError, table_of, without_missing
from crowdpilot.io.inference.column_names import NAME_ROLES
from crowdpilot.io.plain import NESTED_TYPES
from crowdpilot.names import Encoded, is_missing

BLOCK_BYTES = 1 << 23  # read at once; no row may be longer
ROWS_PER_PIECE = 1 << 17  # written at once
KEPT_AS_WRITTEN = (pa.string(), pa.int64(), pa.bool_(), pa.null())  # types of JSON
LINES_THAT_ARE_NO_RECORDS = (b"\nn", b"\n ", b"\n\t", b"\rn", b"\r ", b"\r\t")


class ArrowColumn(Column):
    """A column of Arrow, encoded when it is first asked for."""

    def __init__(self, array: pa.ChunkedArray | pa.Array):
        self.array = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])

    @cached_property
    def encoded(self) -> Encoded:
        column = _encodable(self.array)
        if pa.types.is_floating(column.type):
            return without_missing(_floats(column))
        if pa.types.is_dictionary(column.type):
            codes, names = _split(column.unify_dictionaries())
            codes, order = _split(pa.chunked_array([codes]).dictionary_encode())
            names = names.take(order)
        else:
            codes, names = _split(column.dictionary_encode())
        rows = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        return Encoded(rows, _values(names))

    @property
    def is_text(self) -> bool:
        kind = self.array.type
        return _is_string(kind.value_type if pa.types.is_dictionary(kind) else kind)

    def __len__(self) -> int:
        return len(self.array)

    def values(self, count: int | None = None) -> list[Any]:
        return list(self.array[:count].to_pylist())

    def floats(self) -> Floats:
        """Numbers, and durations as seconds; texts that are all numbers by Arrow, else one by one."""
        kind = self.array.type
        if pa.types.is_duration(kind):
            return _floats(self.array.cast(pa.duration("us")).cast(pa.int64())) / 1e6
        if _is_number(kind):
            return _floats(self.array)
        if _is_string(kind):
            try:
                return _floats(_stripped(self.array))
            except pa.ArrowInvalid:
                pass
        return super().floats()

    def times(self) -> Floats:
        """Seconds since 1970 of timestamps; texts in ISO 8601 by Arrow, all others one by one."""
        kind = self.array.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return _seconds(self.array)
        if _is_number(kind):
            return _floats(self.array)
        for zone in ("UTC", None) if _is_string(kind) else ():
            try:
                return _seconds(_stripped(self.array).cast(pa.timestamp("us", zone)))
            except pa.ArrowInvalid:
                continue
        return super().times()

    def filter(self, mask: np.ndarray) -> Column:
        return ArrowColumn(self.array.filter(pa.array(mask)))


def open(path: Path) -> Any:
    """The bytes of a file as a stream; a compressed file is decompressed on the way."""
    return pa.input_stream(str(path), compression="detect")


def create(path: Path) -> Any:
    """A stream into a new file, which is compressed if its suffix says so."""
    return pa.output_stream(str(path), compression="detect")


@contextmanager
def table_errors() -> Iterator[None]:
    """Arrow's exceptions as errors of tables, in one line."""
    try:
        yield
    except pa.ArrowException as error:
        raise TableError(str(error).strip().partition("\n")[0]) from error


def read_csv(
    stream: Any, delimiter: str, header: Sequence[str], names: Sequence[str] | None, has_header: bool = True
) -> tuple[Table, str]:
    """Some columns of a text file (None: all, by position), and the last value in it."""
    positions = [str(n) for n in range(len(header))] if names is None else None
    included = list(dict.fromkeys(positions or [*(names or ()), header[-1]]))
    first_names = None if has_header else list(header)
    with table_errors():
        table = arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(block_size=BLOCK_BYTES, column_names=positions or first_names),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=included, column_types=dict.fromkeys(included, pa.string())
            ),
        )
    last = str(table[positions[-1] if positions else header[-1]][-1]) if table.num_rows else ""
    if positions:
        return _table(table.slice(int(has_header)).rename_columns(list(header))), last
    return _table(table.select(list(names or ()))), last


def read_json_lines(open: Callable[[], Any], roles: Callable[[Table], Mapping[str, str]]) -> Table | None:
    """None if a line is no record, or if Arrow would change how the names in it are written."""
    if not _are_records(open):
        return None
    try:
        with open() as stream:
            table = arrow_json.read_json(stream, arrow_json.ReadOptions(block_size=BLOCK_BYTES))
        columns = {role: table[name] for role, name in roles(_table(table)).items()}
        for column in columns.values():
            column.validate(full=True)  # bytes that are no text are found only here
    except pa.ArrowException:
        return None
    kinds = (column.type for role, column in columns.items() if role in NAME_ROLES)
    return _table(table) if all(kind in KEPT_AS_WRITTEN for kind in kinds) else None


def _are_records(open: Callable[[], Any]) -> bool:
    """Whether no line begins otherwise than a record: Arrow does not survive a block of nulls."""
    last = b"\n"
    with open() as stream:
        while chunk := stream.read(BLOCK_BYTES):
            text = last + chunk
            if any(start in text for start in LINES_THAT_ARE_NO_RECORDS):
                return False
            last = text[-1:]
    return True


def as_table(source: Any) -> Table:
    """Table of any data frame, or of a mapping of columns."""
    if isinstance(source, Mapping):
        return table_of({str(name): column(values) for name, values in source.items()})
    return _table(_of_frame(source))


def arrow_table(source: Any) -> pa.Table:
    """The same as a table of Arrow."""
    if isinstance(source, Table):
        source = dict(zip(source.column_names, source.columns, strict=True))
    if isinstance(source, Mapping):
        return pa.table({str(name): _array(values) for name, values in source.items()})
    return _of_frame(source)


def _of_frame(source: Any) -> pa.Table:
    if hasattr(source, "__dataframe__") and not hasattr(source, "__arrow_c_stream__"):
        return interchange.from_dataframe(source)
    return pa.table(source)


def column(values: Any) -> Column:
    """Column of any values; if they are of several types, they all become text."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "f":
        return EncodedColumn(without_missing(values.astype(np.float64)))
    return values if isinstance(values, Column) else ArrowColumn(_array(values))


def _array(values: Any) -> pa.Array | pa.ChunkedArray:
    """The same as an array of Arrow."""
    if isinstance(values, (pa.Array, pa.ChunkedArray, ArrowColumn)):
        return values.array if isinstance(values, ArrowColumn) else values
    if isinstance(values, Column):
        codes, names = values.encoded
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32(), mask=codes < 0), names_array(names))
    kinds = {*map(type, values)} if isinstance(values, list) else set()
    if bool in kinds and kinds & {int, float}:
        return pa.array([_text(value) for value in values], pa.string())  # Arrow takes True for 1
    try:
        return pa.array(values, from_pandas=True)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    if isinstance(value, NESTED_TYPES):
        raise TypeError(f"found {str(value)[:40]}, expected one text or number")
    return None if is_missing(value) else str(value)


def names_array(names: Names) -> pa.Array:
    """Names of tasks, workers or classes in Arrow; those of mixed types become text."""
    if names.dtype == object and {type(name) for name in names.tolist()} != {str}:
        return pa.array([str(name) for name in names.tolist()], pa.string())
    return pa.array(names)


def join_rows(columns: Sequence[Encoded], separators: Sequence[str], missing: str) -> Iterator[str]:
    """Pieces of text: in each row, the values of the columns between the separators."""
    text = pa.large_string()
    arrays = [pa.array(names, text if names.dtype == object else None) for _, names in columns]
    *before, after, nothing = [pa.scalar(separator, text) for separator in (*separators, "")]
    for start in range(0, len(columns[0].codes), ROWS_PER_PIECE):
        rows = [codes[start : start + ROWS_PER_PIECE] for codes, _ in columns]
        taken = [array.take(pa.array(r, mask=r < 0)) for array, r in zip(arrays, rows, strict=True)]
        parts = chain(*zip(before, (column.cast(text) for column in taken), strict=True))
        lines = pc.binary_join_element_wise(
            *parts, after, nothing, null_handling="replace", null_replacement=missing
        )
        yield str(pc.binary_join(pa.LargeListArray.from_arrays([0, len(lines)], lines), nothing)[0])


def release() -> None:
    """Give back the memory of tables that are gone."""
    pa.default_memory_pool().release_unused()


def _table(table: pa.Table) -> Table:
    return Table(list(table.column_names), [ArrowColumn(column) for column in table.columns])


def _split(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Codes and values of a column whose chunks share one dictionary."""
    if column.num_chunks == 0:
        return pa.array([], pa.int32()), pa.array([], column.type.value_type)
    chunks = column.chunks
    return pa.chunked_array([chunk.indices for chunk in chunks]).combine_chunks(), chunks[-1].dictionary


def _values(names: pa.Array) -> Names:
    """Distinct values in numpy: texts, whole numbers, floats and booleans; all else as text."""
    kind = names.type
    if pa.types.is_integer(kind) and (kind != pa.uint64() or (pc.max(names).as_py() or 0) < 1 << 63):
        names = names.cast(pa.int64())
    elif pa.types.is_floating(kind):
        names = names.cast(pa.float64())
    elif not (pa.types.is_boolean(kind) or _is_string(kind)):
        names = names.cast(pa.string())
    values: Names = names.to_numpy(zero_copy_only=False)
    return values.astype(object) if _is_string(names.type) else values


def _encodable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Types that Arrow cannot number are cast to one that it can."""
    is_dictionary = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if is_dictionary else column.type
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        first = column.drop_null().slice(0, 1).to_pylist()
        raise TableError(f"found values of type {type(first[0]).__name__ if first else 'list'}")
    if not (pa.types.is_string_view(kind) or pa.types.is_null(kind)):
        return column
    text = pa.large_string()
    return column.cast(pa.dictionary(column.type.index_type, text) if is_dictionary else text)


def _stripped(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts without blanks around them; an empty one is missing."""
    stripped = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    return pc.if_else(pc.equal(stripped, ""), pa.scalar(None, pa.string()), stripped)


def _is_string(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _seconds(column: pa.ChunkedArray) -> Floats:
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    return _floats(column.cast(pa.timestamp("us", zone)).cast(pa.int64())) / 1e6


def _floats(column: pa.ChunkedArray) -> Floats:
    values: Floats = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values
