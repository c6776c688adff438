"""Every column of a table that holds no votes: items with their content, or probabilities of a classifier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from crowdpilot.arrays import need_arrow
from crowdpilot.io.columns import Table, encode_column, table_of
from crowdpilot.io.csv_reading import read_columns as read_text_columns
from crowdpilot.io.csv_reading import text_table
from crowdpilot.io.detect import parse_source
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats import jsonl, parquet
from crowdpilot.io.source import Source
from crowdpilot.io.sources.opening import PATHS, open_source
from crowdpilot.io.tables.column_files import broken_file_errors
from crowdpilot.io.tables.frames import readable_column
from crowdpilot.io.tables.in_memory import table_in_memory


def read_single_column(source: Any) -> list[str] | None:
    """All lines of a text file with one column, the first one too; None of anything else."""
    if not isinstance(source, PATHS) or not Path(source).is_file():
        return None
    file = open_source(source, Source(Path(), required=()))
    if file is None or parquet.sniff(file) or jsonl.sniff(file) or "\0" in file.start or len(file.header) > 1:
        return None
    table = read_text_columns(replace(file, header_names=("line",)), ("line",))
    return [str(value).strip() for value in table["line"].values() if value is not None]


def read_columns(source: Any) -> dict[str, list[Any]]:
    """The values of every column by its name, None where one is missing.

    Parameters
    ----------
    source
        A path (CSV, TSV, Excel, JSON lines, Parquet), `-` for standard input, an open file, a data frame, a
        dict of columns or a list of records.

    Examples
    --------
    >>> read_columns([{"id": 1, "text": "an owl"}, {"id": 2}])
    {'id': [1, 2], 'text': ['an owl', None]}
    """
    if isinstance(source, (*PATHS, bytes, bytearray)) or callable(getattr(source, "read", None)):
        found = read_whole_table(source)
        return _values(found.table, numbers_as_text=found.numbers_as_text)
    table = table_in_memory(source)
    if isinstance(table, VotesTable):
        raise ValueError("found votes, expected a table with a row for each item")
    return _values(table, numbers_as_text=False)


def read_whole_table(source: Any, known: Iterable[str] = ()) -> VotesTable:
    """All columns of a file or stream as they are, without roles; `known` names are names of columns."""
    return parse_source(source, _FORMATS, None, Source(Path(), {name: name for name in known}, required=()))


def _values(table: Table, *, numbers_as_text: bool) -> dict[str, list[Any]]:
    columns = {}
    for name in table.column_names:
        codes, names = encode_column(table[name], numbers_as_text)
        known = [*(each.strip() if isinstance(each, str) else each for each in names.tolist()), None]
        columns[name.strip()] = [known[code] for code in codes.tolist()]
    return columns


def _parse_text(source: Source) -> VotesTable:
    return text_table(source, read_text_columns(source, source.header), {})


def _parse_json(source: Source) -> VotesTable:
    names = dict.fromkeys(name for record in source.records for name in record)
    columns = {name: readable_column([record.get(name) for record in source.records]) for name in names}
    return VotesTable(table_of(columns), {}, name=str(source.path))


def _parse_parquet(source: Source) -> VotesTable:
    need_arrow(f"{source.path}: Parquet")
    import pyarrow.parquet as pq

    from crowdpilot.io import arrow

    file = source.path if source.content is None else BytesIO(source.content)
    with broken_file_errors(source, "Parquet file"), arrow.table_errors():
        return VotesTable(arrow.as_table(pq.read_table(file)), {}, name=str(source.path))


_FORMATS = {
    "parquet": Format("Parquet file", parquet.sniff, _parse_parquet, has_columns=True),
    "json": Format("JSON lines or a JSON array", jsonl.sniff, _parse_json, has_columns=True),
    "text": Format(
        "text with a header", lambda source: "\0" not in source.start, _parse_text, has_columns=True
    ),
}
