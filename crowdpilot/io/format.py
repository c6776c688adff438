"""What a file format is (`Format`), and the table of votes that it finds in a file (`VotesTable`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdpilot.arrays import Names
from crowdpilot.io.columns import Table
from crowdpilot.io.inference.column_names import ALIASES, listed
from crowdpilot.io.source import Source
from crowdpilot.votes import Repeats, Votes


def row_text(row: int) -> str:
    """How people call a row of a table."""
    return f"row {row + 1}"


@dataclass(frozen=True, eq=False)
class VotesTable:
    """A table of votes as a format finds it in a file, and which column plays which role.

    Parameters
    ----------
    table
        At least a column for the task, the worker and the label.
    roles
        The column of each role that has one.
    chosen_roles
        The roles whose column the user has named.
    names
        All columns of the file, where the table has only those that matter.
    tasks, workers
        All of them in order, where the file lists more than those of the votes.
    classes
        All of them in order, where the file says so.
    repeats
        What counts of the repeats of a vote, where the format decides it.
    numbers_as_text
        Numbers are written as text, so that `12` has to be distinguished from `012`.
    missing_labels
        Labels that mean no vote here, unless the user names them as classes.
    left_out
        How many rows or records hold no vote, by the reason for a sentence: `{"cancelled": 3}`.
    notes
        Sentences about what was assumed and may be wrong, with the option that settles it; each becomes a
        `ReadingWarning`.
    described
        Where each role comes from, for a sentence; by its column if not given.
    ignored
        Columns that are not read; all without a role if not given.
    name, format
        How errors call the source, and the format that was detected.
    position
        Where a row of the table stands in the source, rows counted from zero.
    """

    table: Table
    roles: Mapping[str, str]
    chosen_roles: Collection[str] = ()
    names: Sequence[str] = ()
    tasks: Names | None = None
    workers: Names | None = None
    classes: Sequence[Any] | None = None
    repeats: Repeats | None = None
    numbers_as_text: bool = False
    missing_labels: Collection[str] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    described: Mapping[str, str] | None = None
    ignored: Sequence[str] | None = None
    name: str = "the table"
    format: str = ""
    position: Callable[[int], str] = row_text

    def require(self, *roles: str) -> None:
        """Raise if a role has no column, or more than one."""
        names = list(self.names or self.table.column_names)
        if lost := [role for role in roles if role not in self.roles]:
            problem = f"found no {' and no '.join(lost)} column among {listed(names)}"
            raise self.error(f"{problem}; rename it or name it with columns= (--columns {lost[0]}=NAME)")
        if twice := [name for name in self.roles.values() if names.count(name) > 1]:
            raise self.error(f"column {twice[0]!r} occurs twice, expected each name once")

    @property
    def unread(self) -> list[str]:
        """The columns that are not read."""
        if self.ignored is not None:
            return list(self.ignored)
        return [name for name in self.names or self.table.column_names if name not in self.roles.values()]

    @property
    def origins(self) -> dict[str, str]:
        """Where each role comes from, for a sentence."""
        if self.described is not None:
            return dict(self.described)
        return {role: repr(self.roles[role]) for role in ALIASES if role in self.roles}

    def error(self, problem: str, row: int | None = None) -> ValueError:
        """One sentence that says where the problem is."""
        return ValueError(f"{self.name}{'' if row is None else f', {self.position(row)}'}: {problem}")


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
        The table of votes in it.
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
    parse: Callable[[Source], VotesTable]
    write: Callable[[Votes, Path], None] | None = None
    suffixes: tuple[str, ...] = ()
    has_columns: bool = False
    has_questions: bool = False
    sample: str = ""
