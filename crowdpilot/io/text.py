"""Arrow tables to text, a column at a time and never a row at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crowdpilot.io.encoding import vocabulary
from crowdpilot.io.numbers import is_number

ROWS = 1 << 17  # rows made to text at once


@dataclass(frozen=True)
class Style:
    """How values are written: texts in quotes where it takes them, and what has no text."""

    quote: Callable[[pa.Array], pa.Array]
    none: str
    true: str
    false: str


def write_delimited(table: pa.Table, path: Path, delimiter: str) -> None:
    """Write a table as CSV, or with another delimiter."""
    write_text(delimited(table, delimiter), path)


def write_jsonl(table: pa.Table, path: Path) -> None:
    """Write a table as JSON lines."""
    write_text(json_lines(table), path)


def write_text(pieces: Iterable[str], path: Path) -> None:
    """Write text as UTF-8; a suffix such as .gz packs it."""
    with pa.output_stream(str(path), compression="detect") as stream:
        for piece in pieces:
            stream.write(piece.encode())


def delimited(table: pa.Table, delimiter: str) -> Iterator[str]:
    """Pieces of CSV text; a value is quoted only if it has to be."""
    style = csv_style(delimiter)
    yield delimiter.join(style.quote(pa.array(table.column_names)).to_pylist()) + "\n"
    for rows in table.to_batches(ROWS):
        yield join_lines([texts(column, style) for column in rows.columns], delimiter)


def json_lines(table: pa.Table) -> Iterator[str]:
    """Pieces of text with one JSON object in each line."""
    keys = [f", {key}: " for key in JSON.quote(pa.array(table.column_names)).to_pylist()]
    keys[:1] = [key.replace(", ", "{", 1) for key in keys[:1]]
    for rows in table.to_batches(ROWS):
        written = [texts(column, JSON) for column in rows.columns]
        yield join_lines([*chain.from_iterable(zip(keys, written, strict=True)), "}"], "")


def texts(column: pa.Array, style: Style) -> pa.Array:
    """The text of each value."""
    if pa.types.is_dictionary(column.type):
        codes, names = vocabulary(pa.chunked_array([column]))
        written = pa.concat_arrays([texts(names, style), pa.array([style.none])])
        return written.take(pa.array(codes % len(written)))  # a missing value has the code -1
    if pa.types.is_boolean(column.type):
        written = pc.if_else(column, style.true, style.false)
    elif is_number(column.type):
        written = column.cast(pa.string())
        if pa.types.is_floating(column.type):
            written = pc.if_else(pc.is_finite(column), written, None)
    else:
        written = style.quote(column.cast(pa.string()))
    return written.fill_null(style.none)


def csv_style(delimiter: str) -> Style:
    """Values between such delimiters."""
    return Style(partial(_quote, special=rf'^$|["\r\n{re.escape(delimiter)}]|^\s|\s$'), "", "True", "False")


def _quote(column: pa.Array, special: str) -> pa.Array:
    doubled = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(column, special), doubled, column)


def _to_json(column: pa.Array) -> pa.Array:
    """Only texts with special characters are looked at one by one."""
    plain = pc.binary_join_element_wise('"', column, '"', "")
    special = pc.match_substring_regex(column, r'["\\\x00-\x1f]').fill_null(False)
    written = [json.dumps(text, ensure_ascii=False) for text in column.filter(special).to_pylist()]
    return pc.replace_with_mask(plain, special, pa.array(written, pa.string()))


JSON = Style(_to_json, "null", "true", "false")


def join_cells(cells: pa.Array, starts: Any, delimiter: str) -> pa.Array:
    """Join the texts from each start to the next one."""
    return pc.binary_join(pa.LargeListArray.from_arrays(starts, cells), delimiter)


def join_lines(columns: Iterable[pa.Array | str], delimiter: str) -> str:
    """Join the texts of each row, and the rows."""
    lines = pc.binary_join_element_wise(*columns, delimiter)
    ended = pc.binary_join_element_wise(lines, "\n", "")
    return str(join_cells(ended, [0, len(ended)], "")[0])
