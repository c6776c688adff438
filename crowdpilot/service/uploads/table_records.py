"""Records of tables that requesters upload as CSV, NDJSON or JSON, each with its position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crowdpilot.io.csv_reading import checked_rows
from crowdpilot.io.source import Source
from crowdpilot.service.errors import UnsupportedMediaTypeError

JSON, CSV, NDJSON = "application/json", "text/csv", "application/x-ndjson"
SUFFIXES = {".csv": CSV, ".tsv": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".json": JSON}
MAX_COLUMNS = 5_000
MAX_DELIMITERS_PER_LINE = 100_000

Record = tuple[str, Mapping[str, Any]]  # where it stands, and its values by column


def read_records(type: str, data: bytes) -> tuple[list[str], Iterator[Record]]:
    r"""The names of all columns, and the records of data of a media type.

    Examples
    --------
    >>> names, records = read_records("text/csv", b"name,text\na,Good.")
    >>> names, list(records)
    (['name', 'text'], [('row 2', {'name': 'a', 'text': 'Good.'})])
    """
    if type not in (CSV, NDJSON, JSON):
        raise UnsupportedMediaTypeError(
            "send JSON, CSV, NDJSON or a form with files, and say which in Content-Type"
        )
    source = Source(Path("the table"), content=data)
    try:
        if type == CSV:
            _check_width(source)
            return source.header, _csv_records(source)
        records = list(_json_lines(source) if type == NDJSON else _json_list(source))
    except UnicodeDecodeError:
        raise source.not_utf8() from None
    return list(dict.fromkeys(name for _, record in records for name in record)), iter(records)


def _csv_records(source: Source) -> Iterator[Record]:
    """Rows that are not empty, numbered as a spreadsheet does."""
    for number, row in enumerate(checked_rows(source), 1):
        if row and number > 1:
            yield f"row {number}", dict(zip(source.header, row, strict=True))


def _check_width(source: Source) -> None:
    """Refuse what would take very much memory before it is parsed."""
    for number, line in enumerate(source.lines(), 1):
        if line.count(source.delimiter) > MAX_DELIMITERS_PER_LINE:
            raise ValueError(
                f"line {number} has more than {MAX_DELIMITERS_PER_LINE} columns; this is no table of items"
            )
    if len(source.header) > MAX_COLUMNS:
        raise ValueError(f"row 1 has {len(source.header)} columns; {MAX_COLUMNS} are the most there can be")


def _json_lines(source: Source) -> Iterator[Record]:
    return ((f"line {number}", record) for number, record in source.json_lines())


def _json_list(source: Source) -> Iterator[Record]:
    document = source.document
    is_wrapped = isinstance(document, dict) and set(document) == {"items"}
    items = document["items"] if is_wrapped else document
    if not isinstance(items, list):
        raise ValueError("the file holds no list of items; write them as [{...}, {...}]")
    for number, record in enumerate(items, 1):
        if not isinstance(record, dict):
            raise ValueError(f"item {number} is no record; write an item as {{...}}")
        yield f"item {number}", record
