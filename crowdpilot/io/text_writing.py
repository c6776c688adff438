"""CSV, TSV and JSON-lines text of tables, written into files."""

from __future__ import annotations

import json.encoder
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdpilot.arrays import Names
from crowdpilot.io.columns import Column, Table, objects
from crowdpilot.io.engine import engine

ROWS_PER_PIECE = 1 << 16
BLANK = r"[\t\n\f\r ]"


@dataclass(frozen=True)
class Style:
    """How values are written: the missing ones, booleans, and texts, which may need quotes."""

    missing: str
    true: str
    false: str
    quote: Callable[[str], str]


def csv_style(delimiter: str) -> Style:
    """Values between delimiters; a text is quoted only if it has to be."""
    special = re.compile(rf'["\r\n{re.escape(delimiter)}]|\A{BLANK}|{BLANK}\Z|\A\Z').search
    return Style(
        "", "True", "False", lambda text: '"' + text.replace('"', '""') + '"' if special(text) else text
    )


JSON = Style("null", "true", "false", json.encoder.encode_basestring)


def write_delimited(table: Table, path: Path, delimiter: str) -> None:
    """Write a table as CSV, or with another delimiter."""
    write_text(delimited(table, delimiter), path)


def write_jsonl(table: Table, path: Path) -> None:
    """Write a table as JSON lines."""
    write_text(json_lines(table), path)


def write_text(pieces: Iterable[str], path: Path) -> None:
    """Write text as UTF-8; a suffix such as .gz compresses it."""
    with engine().create(path) as stream:
        for piece in pieces:
            stream.write(piece.encode())


def delimited(table: Table, delimiter: str) -> Iterator[str]:
    """Pieces of CSV text."""
    style = csv_style(delimiter)
    yield header_line(table.column_names, delimiter)
    for columns in _pieces(table, style):
        yield join_lines(map(delimiter.join, zip(*columns, strict=True)))


def json_lines(table: Table) -> Iterator[str]:
    """Pieces of text with one JSON object in each line."""
    fields = (f"{JSON.quote(name).replace('%', '%%')}: %s" for name in table.column_names)
    template = "{" + ", ".join(fields) + "}"
    for columns in _pieces(table, JSON):
        yield join_lines(map(template.__mod__, zip(*columns, strict=True)))


def header_line(names: Sequence[str], delimiter: str) -> str:
    """The first line of a table."""
    return delimiter.join(map(csv_style(delimiter).quote, names)) + "\n"


def join_lines(lines: Iterable[str]) -> str:
    """Lines with an end each."""
    return "\n".join([*lines, ""])


def texts(column: Column, style: Style) -> list[str]:
    """How each value of a column is written."""
    written: list[str] = _coded_texts(column, style)[column.encoded.codes].tolist()
    return written


def _pieces(table: Table, style: Style) -> Iterator[list[list[str]]]:
    """The texts of all columns, some rows at a time."""
    coded = [(_coded_texts(column, style), column.encoded.codes) for column in table.columns]
    for start in range(0, len(table), ROWS_PER_PIECE):
        yield [written[codes[start : start + ROWS_PER_PIECE]].tolist() for written, codes in coded]


def _coded_texts(column: Column, style: Style) -> Names:
    """The text of each code, the last one of what is missing."""
    values = column.encoded.names
    if values.dtype == bool:
        written = [style.true if value else style.false for value in values.tolist()]
    elif values.dtype.kind == "f":
        written = engine().float_texts(values.astype(np.float64))
        for n in np.flatnonzero(~np.isfinite(values)).tolist():
            written[n] = style.missing
    else:
        written = list(map(style.quote if values.dtype == object else str, values.tolist()))
    return objects([*written, style.missing])
