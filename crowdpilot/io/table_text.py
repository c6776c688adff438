"""Tables and other texts into files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from crowdpilot.arrays import to_names
from crowdpilot.io.engine import JSON, Style, Table, Texts, engine


def write_delimited(table: Table, path: Path, delimiter: str) -> None:
    """Write a table as CSV, or with another delimiter."""
    write_text(delimited(table, delimiter), path)


def write_jsonl(table: Table, path: Path) -> None:
    """Write a table as JSON lines."""
    write_text(json_lines(table), path)


def write_text(pieces: Iterable[str], path: Path) -> None:
    """Write text as UTF-8; a suffix such as .gz packs it."""
    with engine().create(path) as stream:
        for piece in pieces:
            stream.write(piece.encode())


def delimited(table: Table, delimiter: str) -> Iterator[str]:
    """Pieces of CSV text; a value is quoted only if it has to be."""
    style = csv_style(delimiter)
    yield heading(table.column_names, style)
    for columns in engine().written(table, style):
        yield join_lines(columns, delimiter)


def json_lines(table: Table) -> Iterator[str]:
    """Pieces of text with one JSON object in each line."""
    keys = [f", {key}: " for key in _quoted(table.column_names, JSON)]
    keys[:1] = [key.replace(", ", "{", 1) for key in keys[:1]]
    for columns in engine().written(table, JSON):
        yield join_lines([*chain.from_iterable(zip(keys, columns, strict=True)), "}"], "")


def csv_style(delimiter: str) -> Style:
    """Values between such delimiters."""
    return Style("", "True", "False", delimiter)


def heading(names: Sequence[str], style: Style) -> str:
    """The first line of a table."""
    return style.delimiter.join(_quoted(names, style)) + "\n"


def _quoted(names: Sequence[str], style: Style) -> list[str]:
    return engine().values(engine().texts(engine().names(to_names(names)), style))


def join_lines(columns: Iterable[Texts | str], delimiter: str) -> str:
    """Join the texts of each row, and the rows."""
    by = engine()
    return by.join_all(by.join_rows([by.join_rows(columns, delimiter), "\n"], ""), "")
