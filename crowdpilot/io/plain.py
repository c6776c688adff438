"""Tables without Arrow: CSV by Python's csv module straight to codes, columns from Python values."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import compress, islice
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Names, need_arrow
from crowdpilot.io.columns import Column, EncodedColumn, Table, TableError, objects, table_of, without_missing
from crowdpilot.io.numbers_and_times import number_text
from crowdpilot.names import Encoded, is_missing

MAX_FIELD_CHARACTERS = (1 << 31) - 1
ROWS_PER_CHUNK = 1 << 9  # read at once; few enough to stay in the cache
ROWS_PER_PIECE = 1 << 16  # written at once
OPENERS: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
NESTED_TYPES = (list, tuple, dict, np.ndarray)
ARROW_TYPES = (datetime.date, datetime.time, datetime.timedelta, Decimal, bytes)
INT64 = range(-(1 << 63), 1 << 63)
LIMITS: list[
    int
] = []  # of the length of fields, one for each reader; csv has one limit for the whole process
LIMIT_LOCK = threading.Lock()


def open(path: Path) -> Any:
    """The bytes of a file as a stream; a compressed file is decompressed on the way."""
    return _opener(path)(path, "rb")


def create(path: Path) -> Any:
    """A stream into a new file, which is compressed if its suffix says so."""
    return _opener(path)(path, "wb")


def _opener(path: Path) -> Callable[..., Any]:
    if path.suffix in (".zst", ".lz4"):
        need_arrow(f"{path.name}: a file compressed as {path.suffix}")
    return OPENERS.get(path.suffix, io.open)


class Codes(dict[str, int]):
    """The code of each text; a new text gets the next one."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def read_csv(
    stream: Any, delimiter: str, header: Sequence[str], names: Sequence[str] | None, has_header: bool = True
) -> tuple[Table, str]:
    """Some columns of a text file (None: all, by position), and the last value in it."""
    positions = [*range(len(header))] if names is None else [*map(header.index, names)]
    needed = list(dict.fromkeys([*positions, len(header) - 1]))
    code_of = {position: Codes() for position in needed}
    codes = {position: array("i") for position in needed}
    last = header[-1] if names is None and has_header else ""
    with long_fields(), io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="") as lines:
        rows = filter(None, csv.reader(lines, delimiter=delimiter))
        first = next(rows, []) if has_header else header
        if any(list(first[position : position + 1]) != [header[position]] for position in needed):
            raise TableError("the header is no text")
        while chunk := list(islice(rows, ROWS_PER_CHUNK)):
            columns = _transpose(chunk, len(header))
            for position in needed:
                codes[position].extend(map(code_of[position].__getitem__, columns[position]))
            last = columns[-1][-1]
    read = {position: _column(codes[position], code_of[position]) for position in needed}
    return Table(list(header if names is None else names), [read[position] for position in positions]), last


@contextmanager
def long_fields() -> Iterator[None]:
    """Let csv read fields of any length, until the last of several threads has read its file."""
    with LIMIT_LOCK:
        LIMITS.append(csv.field_size_limit(MAX_FIELD_CHARACTERS))
    try:
        yield
    finally:
        with LIMIT_LOCK:
            csv.field_size_limit(LIMITS.pop())  # the last reader restores the limit that the first one found


def _transpose(rows: list[list[str]], width: int) -> list[tuple[str, ...]]:
    try:
        columns = list(zip(*rows, strict=True))
    except ValueError as error:
        raise TableError("rows have different lengths") from error
    if len(columns) != width:
        raise TableError(f"rows have {len(columns)} fields, expected {width}")
    return columns


def _column(codes: array[int], texts: Iterable[str]) -> Column:
    values = list(texts)
    try:
        "".join(values).encode()
    except UnicodeEncodeError as error:
        raise TableError("found bytes that are not UTF-8") from error
    return EncodedColumn(Encoded(np.array(codes, np.int32), objects(values)))


def read_json_lines(open: Callable[[], Any], roles: Callable[[Table], Mapping[str, str]]) -> None:
    """There is no quick way without Arrow."""


def as_table(source: Any) -> Table:
    """Table of a mapping of columns."""
    if isinstance(source, Mapping):
        return table_of({str(name): column(values) for name, values in source.items()})
    raise TypeError("found no columns")


def column(values: Any) -> Column:
    """Column of any values; if they are of several types, they all become text."""
    if isinstance(values, Column):
        return values
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf":
        if values.dtype.kind == "f":
            return EncodedColumn(without_missing(values.astype(np.float64)))
        numbers = _array(values.tolist()) if values.dtype == np.uint64 else values
        return EncodedColumn(Encoded(np.arange(len(values), dtype=np.int32), numbers))
    plain = [value.item() if isinstance(value, np.generic) else value for value in list(values)]
    present = [isinstance(value, NESTED_TYPES) or not is_missing(value) for value in plain]
    codes = np.where(present, np.cumsum(present) - 1, -1).astype(np.int32)
    return EncodedColumn(Encoded(codes, _array(list(compress(plain, present)))))


def _array(values: list[Any]) -> Names:
    """Array of whole numbers, numbers or booleans, or of lists; of anything else, texts."""
    kinds = set(map(type, values))
    if needs_arrow := [kind for kind in kinds if issubclass(kind, ARROW_TYPES)]:
        need_arrow(f"a column with values of type {needs_arrow[0].__name__}")
    if nested := [value for value in values if isinstance(value, NESTED_TYPES)]:
        if len(kinds) > 1:
            raise TypeError(f"found {str(nested[0])[:40]}, expected one text or number")
        return objects(values)
    if kinds == {bool} or (kinds == {int} and min(values) in INT64 and max(values) in INT64):
        return np.asarray(values)
    if float in kinds and kinds <= {int, float}:
        return np.asarray(values, np.float64)
    return objects(list(map(str, values)))


def join_rows(columns: Sequence[Encoded], separators: Sequence[str], missing: str) -> Iterator[str]:
    """Pieces of text: in each row, the values of the columns between the separators."""
    texts = [objects([*_texts(names), missing]) for _, names in columns]
    template = "%s".join(separator.replace("%", "%%") for separator in separators)
    for start in range(0, len(columns[0].codes), ROWS_PER_PIECE):
        rows = [codes[start : start + ROWS_PER_PIECE] for codes, _ in columns]
        cells = [text[r].tolist() for text, r in zip(texts, rows, strict=True)]
        yield "".join(map(template.__mod__, zip(*cells, strict=True)))


def _texts(names: Names) -> list[str]:
    if names.dtype == object:
        return list(names)
    return list(map(number_text if names.dtype.kind == "f" else str, names.tolist()))


def release() -> None:
    """Nothing: memory is given back by itself."""
