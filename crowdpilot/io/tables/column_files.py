"""Files that keep columns with types: of their tables, the columns that matter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crowdpilot.io.columns import Table, TableError
from crowdpilot.io.format import VotesTable
from crowdpilot.io.formats.wide import looks_wide, may_be_wide, to_long
from crowdpilot.io.source import Source

Load = Callable[[Sequence[str]], Table]


def column_votes(source: Source, names: Sequence[str], load: Load) -> VotesTable:
    """The votes in a table with these columns, of which `load` reads some."""
    name = str(source.path)
    may_be = "worker" in source.required and may_be_wide(names, source.columns)
    if may_be and looks_wide(table := load(names), source.columns):
        return to_long(VotesTable(table, {}, source.columns.keys(), name=name), source.columns)
    roles = source.roles(names, content=load)
    needed = [column for column in names if column in roles.values()]
    return VotesTable(load(needed), roles, source.columns.keys(), names, name=name)


def names_of(schema: Any) -> list[str]:
    """All columns; those that were the index of pandas come first, as they do there."""
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):
        index = []
    first = [name for name in index if isinstance(name, str) and name in schema.names]
    return [*first, *(name for name in schema.names if name not in first)]


@contextmanager
def broken_file_errors(source: Source, kind: str) -> Iterator[None]:
    """One sentence instead of what Arrow says of a file that it cannot read."""
    try:
        yield
    except (OSError, TableError) as error:
        if reason := getattr(error, "strerror", None):
            raise source.error(f"cannot be read ({reason})") from error
        raise source.error(f"found a broken {kind}, expected a whole one") from error
