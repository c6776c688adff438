"""Files that keep columns with types: of their tables, the columns that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from crowdpilot.io.columns import Table, TableError
from crowdpilot.io.format import VotesTable
from crowdpilot.io.formats.wide import looks_wide, may_be_wide, to_long
from crowdpilot.io.source import Source

Load = Callable[[Sequence[str]], Table]


def column_votes(source: Source, names: Sequence[str], load: Load) -> VotesTable:
    """The votes in a table with these columns, of which `load` reads some."""
    name = str(source.path)
    if may_be_wide(names, source.columns) and looks_wide(table := load(names), source.columns):
        return to_long(VotesTable(table, {}, source.columns.keys(), name=name), source.columns)
    roles = source.roles(names, content=load)
    needed = [column for column in names if column in roles.values()]
    return VotesTable(load(needed), roles, source.columns.keys(), names, name=name)


@contextmanager
def broken_file_errors(source: Source, kind: str) -> Iterator[None]:
    """What Arrow says of a file that it cannot read, as one sentence."""
    try:
        yield
    except (OSError, TableError) as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise source.error(f"found a broken {kind} ({reason}), expected a whole one") from error
