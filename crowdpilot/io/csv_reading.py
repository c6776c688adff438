"""Reading CSV: text files with columns and a comma, semicolon, tab or pipe between them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice

import numpy as np

from crowdpilot.io.columns import Table, TableError, column_of_names, table_of
from crowdpilot.io.engine import engine
from crowdpilot.io.format import VotesTable, row_text
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.plain import long_fields
from crowdpilot.io.source import Source
from crowdpilot.io.sources.headers import check_header, check_repeated_header
from crowdpilot.names import to_names


def read_columns(source: Source, columns: Iterable[str]) -> Table:
    """Some columns, all as text."""
    names = list(dict.fromkeys(columns))
    if twice := [name for name in names if source.header.count(name) > 1]:
        raise source.error(f"column {twice[0]!r} occurs twice, expected each name once", 1)
    if source.is_header_only:
        check(source)
        return table_of({name: column_of_names(np.zeros(0, np.int32), to_names([])) for name in names})
    return _read(source, names)


def text_table(source: Source, table: Table, roles: Mapping[str, str]) -> VotesTable:
    """The table of votes in a text file."""
    return VotesTable(
        table, roles, source.columns.keys(), source.header, numbers_as_text=True, name=str(source.path),
        position=partial(position_of, source),
    )  # fmt: skip


def read_rows(source: Source) -> Table:
    """Every column as text, in the order of the header, which may name several alike."""
    return _read(source, None)


def _read(source: Source, names: list[str] | None) -> Table:
    check_header(source)
    try:
        with source.open() as stream:
            table, last = engine().read_csv(
                stream, source.delimiter, source.header, names, source.header_names is None
            )
    except TableError as error:
        check(source)
        raise source.error(f"cannot be read as text with columns ({error})") from error
    if "\n" in last:  # a quote that never ends takes all lines
        check(source)
    check_repeated_header(source, table)
    return table


def check(source: Source) -> None:
    """Raise the error of the first line that is wrong, if there is one."""
    for _ in checked_rows(source):
        pass


def checked_rows(source: Source) -> Iterator[list[str]]:
    """Each row, a header included; an error says which line is wrong."""
    width = len(source.header)
    line = 0
    try:
        for line, row in numbered_rows(source):
            if row and len(row) != width:
                fields = f"{len(row)} field{'' if len(row) == 1 else 's'}"
                raise source.error(f"found {fields}, expected {width} ({listed(source.header)})", line)
            yield row
    except UnicodeDecodeError as error:
        raise source.not_utf8() from error
    except csv.Error as error:
        is_open = "end of data" in str(error)
        problem = "a quote is opened and never closed" if is_open else f"found a misplaced quote ({error})"
        raise source.error(problem, line + 1) from error


def numbered_rows(source: Source, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The line in which each row begins, and its fields."""
    with long_fields():
        lines = source.lines("strict" if strict else "replace")
        reader = csv.reader(lines, delimiter=source.delimiter, strict=strict)
        start = 1
        for row in reader:
            yield start, row
            start = reader.line_num + 1


def line_of(source: Source, row: int) -> int | None:
    """The line of a row of data, the header not counted."""
    lines = (line for line, fields in numbered_rows(source, strict=False) if fields)
    return next(islice(lines, row + source.header_rows, None), None)


def position_of(source: Source, row: int) -> str:
    """The same, for a sentence."""
    line = line_of(source, row)
    return f"line {line}" if line else row_text(row)
