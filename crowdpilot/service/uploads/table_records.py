"""Records of tables that requesters upload as CSV, NDJSON or JSON, each with its position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from crowdpilot.io.csv_reading import checked_rows
from crowdpilot.io.source import DELIMITERS, Source
from crowdpilot.service.errors import UnsupportedMediaTypeError

JSON, CSV, NDJSON = "application/json", "text/csv", "application/x-ndjson"
SUFFIXES = {".csv": CSV, ".tsv": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".json": JSON}
MAX_COLUMNS = 5_000
MAX_DELIMITERS_PER_LINE = 100_000
MAX_COLUMN_CHARACTERS = 300  # of the name of a column: a class, a criterion and a few more
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
MAX_RECORDS = 200_000
MAX_LINE_CHARACTERS = 1 << 20  # of NDJSON, each of which is parsed in one go
MAX_JSON_BYTES = 8 << 20  # of a file, which is parsed in one go
MAX_JSON_CONTAINERS = 150_000  # lists and objects: what takes time and memory

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
    source = Source(Path("the table"), content=data, encoding="utf-8")
    try:
        if type == CSV:
            _check_width(source)
            _check_names(source.header)
            return source.header, _csv_records(source)
        if type == NDJSON:
            _check_lines(source)
            return _names(_json_lines(source)), _json_lines(source)  # read twice: all at once may be too much
        _check_document(data)
        records = list(_json_list(source))
        return _names(records), iter(records)
    except UnicodeDecodeError:
        raise source.not_utf8() from None


def _names(records: Iterable[Record]) -> list[str]:
    """The names of all columns, in the order in which they occur."""
    names: dict[str, None] = {}
    for number, (where, record) in enumerate(records, 1):
        names |= dict.fromkeys(record)
        if len(names) > MAX_COLUMNS:
            raise ValueError(f"{where}: there are more than {MAX_COLUMNS} columns; this is no table of items")
        if number > MAX_RECORDS:
            raise ValueError(f"there are more than {MAX_RECORDS} rows; send them in parts")
    _check_names(names)
    return list(names)


def _check_names(names: Iterable[str]) -> None:
    """Refuse names of columns that cannot be shown."""
    for name in names:
        is_utf8 = name.isascii() or not HALF_CHARACTER.search(name)
        if len(name) > MAX_COLUMN_CHARACTERS or not is_utf8 or "\x00" in name:
            raise ValueError(
                f"the name of the column {name[:60]!r} is longer than {MAX_COLUMN_CHARACTERS} characters or "
                "has half of one; rename it"
            )


def _csv_records(source: Source) -> Iterator[Record]:
    """Rows that are not empty, numbered as a spreadsheet does."""
    for number, row in enumerate(checked_rows(source), 1):
        if row and number > 1:
            yield f"row {number}", dict(zip(source.header, row, strict=True))


def _check_width(source: Source) -> None:
    """Refuse what would take very much time or memory before it is parsed."""
    first = next((line for line in source.lines() if line.strip()), "")
    widest = 1 + max(first.count(delimiter) for delimiter in DELIMITERS)  # whichever it is
    if widest > MAX_DELIMITERS_PER_LINE:
        raise ValueError(f"row 1 has more than {MAX_DELIMITERS_PER_LINE} columns; {MAX_COLUMNS} are the most")
    for number, line in enumerate(source.lines(), 1):
        if line.count(source.delimiter) > MAX_DELIMITERS_PER_LINE:
            raise ValueError(
                f"line {number} has more than {MAX_DELIMITERS_PER_LINE} columns; this is no table of items"
            )
    if len(source.header) > MAX_COLUMNS:
        raise ValueError(f"row 1 has {len(source.header)} columns; {MAX_COLUMNS} are the most there can be")


def _check_lines(source: Source) -> None:
    for number, line in enumerate(source.lines(), 1):
        if len(line) > MAX_LINE_CHARACTERS:
            raise ValueError(
                f"line {number} is longer than {MAX_LINE_CHARACTERS} characters; write one item in each line"
            )


def _check_document(data: bytes) -> None:
    if len(data) > MAX_JSON_BYTES or data.count(b"[") + data.count(b"{") > MAX_JSON_CONTAINERS:
        raise ValueError(
            f"the file is larger than {MAX_JSON_BYTES} bytes or has more than {MAX_JSON_CONTAINERS} lists "
            "and objects; send it as CSV or NDJSON"
        )


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
