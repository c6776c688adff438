"""Text files with columns: comma, semicolon, tab or pipe between them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice

from crowdpilot.arrays import to_names
from crowdpilot.io.column_names import listed
from crowdpilot.io.engine import Table, engine
from crowdpilot.io.errors import failures
from crowdpilot.io.format import Raw, row_text
from crowdpilot.io.plain.reading import long_fields
from crowdpilot.io.source import Source


def read_columns(source: Source, wanted: Iterable[str]) -> Table:
    """The wanted columns, all as text."""
    names = list(dict.fromkeys(wanted))
    if twice := [name for name in names if source.header.count(name) > 1]:
        raise source.error(f"column {twice[0]!r} occurs twice, expected each name once", 1)
    if source.is_header_only:
        check(source)
        return engine().table({name: engine().names(to_names([])) for name in names})
    return _read(source, names)


def text_table(source: Source, table: Table, roles: Mapping[str, str]) -> Raw:
    """What was found in a file of text."""
    place = partial(place_of, source)
    return Raw(
        table, roles, source.columns.keys(), source.header, is_text=True, name=str(source.path), place=place
    )


def read_rows(source: Source) -> Table:
    """Every column as text, in the order of the header, which may name several alike."""
    return _read(source, None)


def _read(source: Source, names: list[str] | None) -> Table:
    try:
        with source.open() as stream:
            table, last = engine().read_text(stream, source.delimiter, source.header, names)
    except failures() as error:
        check(source)
        raise source.error(f"cannot be read as text with columns ({str(error).splitlines()[0]})") from error
    if "\n" in last:  # a quote that never ends takes all lines
        check(source)
    return table


def check(source: Source) -> None:
    """Raise the error of the first line that is wrong, if there is one."""
    width = len(source.header)
    line = 0
    try:
        for line, row in numbered(source):
            if row and len(row) != width:
                expected = f"{width} ({listed(source.header)})"
                raise source.error(f"found {_count(len(row), 'field')}, expected {expected}", line)
    except UnicodeDecodeError as error:
        raise source.not_utf8() from error
    except csv.Error as error:
        is_open = "end of data" in str(error)
        problem = "a quote is opened and never closed" if is_open else f"found a misplaced quote ({error})"
        raise source.error(problem, line + 1) from error


def numbered(source: Source, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Each record and the line in which it begins."""
    with long_fields():
        lines = source.lines("strict" if strict else "replace")
        reader = csv.reader(lines, delimiter=source.delimiter, strict=strict)
        start = 1
        for row in reader:
            yield start, row
            start = reader.line_num + 1


def line_of(source: Source, row: int) -> int | None:
    """The line of a row of data, the header not counted."""
    records = (line for line, record in numbered(source, strict=False) if record)
    return next(islice(records, row + 1, None), None)


def place_of(source: Source, row: int) -> str:
    """The same, for a sentence."""
    line = line_of(source, row)
    return f"line {line}" if line else row_text(row)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
