"""What a format is, and what it finds in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdpilot.io.column_names import listed
from crowdpilot.io.engine import Array, Table
from crowdpilot.io.source import Source
from crowdpilot.votes import Repeats, Votes


def row_text(row: int) -> str:
    """How people call a row of a table."""
    return f"row {row + 1}"


@dataclass(frozen=True, eq=False)
class Raw:
    """What a format finds in a file: a table, and which column plays which role.

    Parameters
    ----------
    table
        At least a column for the task, the worker and the label.
    roles
        The column of each role that has one.
    given
        The roles that the user has given to columns.
    names
        All columns of the file, where the table has only those that matter.
    tasks, workers
        All of them in order, where the file lists more than those of the votes.
    classes
        All of them in order, where the file says so.
    repeats
        What counts of the repeats of a vote, where the format decides it.
    is_text
        Numbers are written as text, so that `12` has to be told from `012`.
    name
        How errors call the source.
    place
        Where a row of the table stands in the source, rows counted from zero.
    """

    table: Table
    roles: Mapping[str, str]
    given: Collection[str] = ()
    names: Sequence[str] = ()
    tasks: Array | None = None
    workers: Array | None = None
    classes: Sequence[Any] | None = None
    repeats: Repeats | None = None
    is_text: bool = False
    name: str = "the table"
    place: Callable[[int], str] = row_text

    def require(self, *needed: str) -> None:
        """Raise if a role has no column, or more than one."""
        names = list(self.names or self.table.column_names)
        if lost := [role for role in needed if role not in self.roles]:
            found = f"found no {' and no '.join(lost)} column among {listed(names)}"
            raise self.error(f"{found}; rename it or name it with columns= (--columns {lost[0]}=NAME)")
        if twice := [name for name in self.roles.values() if names.count(name) > 1]:
            raise self.error(f"column {twice[0]!r} occurs twice, expected each name once")

    def error(self, problem: str, row: int | None = None) -> ValueError:
        """One sentence that says where the problem is."""
        return ValueError(f"{self.name}{'' if row is None else f', {self.place(row)}'}: {problem}")


@dataclass(frozen=True)
class Format:
    """How one kind of file is recognised, read and written.

    Parameters
    ----------
    summary
        One line for lists and help texts.
    sniff
        Whether a source looks like it, by its content.
    parse
        The table in it.
    write
        Votes into a file of it, where that makes sense.
    suffixes
        Names that are written in this format if nothing else is said.
    has_columns
        Whether the user can say which column is which.
    has_questions
        Whether a file may hold the answers to several questions.
    sample
        A small file with one vote, for those who want to see one and for tests: worker `x` says that
        task `a` is a `cat`. Empty where a file is not text.
    """

    summary: str
    sniff: Callable[[Source], bool]
    parse: Callable[[Source], Raw]
    write: Callable[[Votes, Path], None] | None = None
    suffixes: tuple[str, ...] = ()
    has_columns: bool = False
    has_questions: bool = False
    sample: str = ""
