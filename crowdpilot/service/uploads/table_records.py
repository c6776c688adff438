"""Records: rows of tables that requesters send, as CSV, NDJSON or JSON, each with its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from crowdpilot.service.errors import UnsupportedMediaTypeError

JSON, CSV, NDJSON = "application/json", "text/csv", "application/x-ndjson"
SUFFIXES = {".csv": CSV, ".tsv": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".json": JSON}
MOST_COLUMNS, MOST_CUTS = 5_000, 100_000

Record = tuple[str, Mapping[str, Any]]  # where it stands, and what it says


def read_records(type: str, data: bytes) -> tuple[list[str], Iterator[Record]]:
    r"""The names of all columns, and the records of data of a type.

    Examples
    --------
    >>> names, records = read_records("text/csv", b"name,text\na,Good.")
    >>> names, list(records)
    (['name', 'text'], [('row 2', {'name': 'a', 'text': 'Good.'})])
    """
    if type == CSV:
        return _csv_records(_text(data))
    if type not in (NDJSON, JSON):
        raise UnsupportedMediaTypeError(
            "send JSON, CSV, NDJSON or a form with files, and say which in Content-Type"
        )
    found = list(_ndjson_records(_text(data)) if type == NDJSON else _json_records(_text(data)))
    return list(dict.fromkeys(name for _, record in found for name in record)), iter(found)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8 text; save the file as UTF-8") from None


def _csv_records(text: str) -> tuple[list[str], Iterator[Record]]:
    head = text[: text.find("\n")] if "\n" in text else text
    between = max(",;\t|", key=head.count)
    rows = _csv_rows(text, between)
    _, names = next(rows, (1, []))
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"row 1 has {len(names)} columns; {MOST_COLUMNS} are the most there can be")

    def records() -> Iterator[Record]:
        for number, row in rows:
            if len(row) != len(names):
                raise ValueError(f"row {number} has {len(row)} columns; row 1 has {len(names)}")
            yield f"row {number}", dict(zip(names, row, strict=True))

    return names, records()


def _csv_rows(text: str, between: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, numbered as a spreadsheet does."""

    def lines() -> Iterator[str]:
        for number, line in enumerate(io.StringIO(text, newline=""), 1):
            if line.count(between) > MOST_CUTS:
                raise ValueError(
                    f"line {number} has more than {MOST_CUTS} columns; this is no table of items"
                )
            yield line

    number = 0
    try:
        for number, row in enumerate(csv.reader(lines(), delimiter=between, strict=True), 1):
            if row:
                yield number, row
    except csv.Error as error:
        long = "field limit" in str(error)
        what = "has a very long cell; send long texts as NDJSON" if long else f"cannot be read ({error})"
        raise ValueError(f"row {number + 1} {what}") from None


def _ndjson_records(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", _record(_parse(line, f"line {number}"), f"line {number}")


def _json_records(text: str) -> Iterator[Record]:
    found = _parse(text, "the file")
    listed_ = found.get("items") if isinstance(found, dict) and set(found) == {"items"} else found
    if not isinstance(listed_, list):
        raise ValueError("the file holds no list of items; write them as [{...}, {...}]")
    for number, record in enumerate(listed_, 1):
        yield f"item {number}", _record(record, f"item {number}")


def _parse(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{where} is not JSON; check its brackets and quotes") from None


def _record(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no record; write an item as {{...}}")
    return value
