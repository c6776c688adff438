"""CSV, TSV and JSON-lines text of tables, written into files."""

from __future__ import annotations

import json.encoder
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdpilot.io.columns import Column, Table, objects, value_text
from crowdpilot.io.engine import engine
from crowdpilot.names import Encoded

BLANK = r"[\t\n\f\r ]"


@dataclass(frozen=True)
class Style:
    """How values are written: the missing ones, booleans, and texts, which may need quotes."""

    missing: str
    true: str
    false: str
    quote: Callable[[Sequence[str]], Sequence[str]]


def csv_style(delimiter: str) -> Style:
    """Values between delimiters; a text is quoted only if it has to be."""
    special = rf'["\r\n{re.escape(delimiter)}]'
    is_special = re.compile(rf"{special}|\A{BLANK}|{BLANK}\Z|\A\Z").search
    has_special = re.compile(f"{special}|{BLANK}").search

    def quote(texts: Sequence[str]) -> Sequence[str]:
        if all(texts) and not has_special("".join(texts)):  # one look at them all
            return texts
        return ['"' + text.replace('"', '""') + '"' if is_special(text) else text for text in texts]

    return Style("", "True", "False", quote)


JSON = Style("null", "true", "false", lambda texts: [*map(json.encoder.encode_basestring, texts)])


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
    yield header_line(table.column_names, delimiter)
    yield from _lines(table, csv_style(delimiter), ["", *[delimiter] * (len(table.columns) - 1), "\n"])


def json_lines(table: Table) -> Iterator[str]:
    """Pieces of text with one JSON object in each line."""
    keys = [f"{name}: " for name in JSON.quote(table.column_names)]
    return _lines(table, JSON, ["{" + "".join(keys[:1]), *(f", {key}" for key in keys[1:]), "}\n"])


def header_line(names: Sequence[str], delimiter: str) -> str:
    """The first line of a table."""
    return delimiter.join(csv_style(delimiter).quote(names)) + "\n"


def join_lines(lines: Iterable[str]) -> str:
    """Lines with an end each."""
    return "\n".join([*lines, ""])


def texts(column: Column, style: Style) -> list[str]:
    """How each value of a column is written."""
    codes, values = _styled(column, style)
    written: list[str] = objects([*map(value_text, values.tolist()), style.missing])[codes].tolist()
    return written


def _lines(table: Table, style: Style, separators: Sequence[str]) -> Iterator[str]:
    """Pieces of text with a line for each row: its values between the separators."""
    columns = [_styled(column, style) for column in table.columns]
    return engine().join_rows(columns, separators, style.missing) if columns else iter(())


def _styled(column: Column, style: Style) -> Encoded:
    """Texts and booleans as they are written, finite numbers as they are; the rest is missing."""
    codes, values = column.encoded
    if values.dtype == bool:
        return Encoded(codes, np.where(values, style.true, style.false).astype(object))
    if values.dtype == object:
        return Encoded(codes, objects(style.quote(values.tolist())))
    is_finite = np.isfinite(values)
    if not is_finite.all():
        codes = np.where(np.append(is_finite, False)[codes], codes, np.int32(-1))
    return Encoded(codes, values)
