"""Arrow tables to text, a column at a time and never a row at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from crowdpilot.io.arrow.encoding import vocabulary
from crowdpilot.io.arrow.numbers import is_number
from crowdpilot.io.engine import Integers, Style

ROWS = 1 << 17  # rows made to text at once


def texts(column: pa.Array, style: Style) -> pa.Array:
    """How each value is written."""
    if pa.types.is_dictionary(column.type):
        codes, names = vocabulary(column)
        written = pa.concat_arrays([texts(names, style), pa.array([style.none])])
        return written.take(pa.array(codes % len(written)))  # a missing value has the code -1
    if pa.types.is_boolean(column.type):
        written = pc.if_else(column, style.true, style.false)
    elif is_number(column.type):
        written = column.cast(pa.string())
        if pa.types.is_floating(column.type):
            written = pc.if_else(pc.is_finite(column), written, None)
    else:
        text = column.cast(pa.string())
        written = _quote(text, style.delimiter) if style.delimiter else _to_json(text)
    return written.fill_null(style.none)


def written(table: pa.Table, style: Style) -> Iterator[list[pa.Array]]:
    """The same for all columns of a table, many rows at a time."""
    for rows in table.to_batches(ROWS):
        yield [texts(column, style) for column in rows.columns]


def _quote(column: pa.Array, delimiter: str) -> pa.Array:
    """In quotes only if they have to be."""
    special = rf'^$|["\r\n{re.escape(delimiter)}]|^\s|\s$'
    doubled = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(pc.match_substring_regex(column, special), doubled, column)


def _to_json(column: pa.Array) -> pa.Array:
    """Only texts with special characters are looked at one by one."""
    plain = pc.binary_join_element_wise('"', column, '"', "")
    special = pc.match_substring_regex(column, r'["\\\x00-\x1f]').fill_null(False)
    written = [json.dumps(text, ensure_ascii=False) for text in column.filter(special).to_pylist()]
    return pc.replace_with_mask(plain, special, pa.array(written, pa.string()))


def join_rows(columns: Iterable[pa.Array | str], between: str) -> pa.Array:
    """Join the texts of each row."""
    return pc.binary_join_element_wise(*columns, between)


def join_cells(cells: pa.Array, starts: Sequence[int] | Integers, between: str) -> pa.Array:
    """Join the texts from each start to the next one."""
    return pc.binary_join(pa.LargeListArray.from_arrays(starts, cells), between)


def join_all(cells: pa.Array, between: str) -> str:
    """Join all texts."""
    return str(join_cells(cells, [0, len(cells)], between)[0])
