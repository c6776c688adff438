"""Votes as text with columns: one row for each vote, below a header."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from crowdpilot.io.csv_reading import read_columns, text_table
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import Source
from crowdpilot.io.text_writing import write_delimited
from crowdpilot.io.votes_tables import to_table
from crowdpilot.votes import Votes


def sniff(source: Source) -> bool:
    """Whether it is text with at least two columns."""
    return "\0" not in source.start and len(source.header) > 1


def parse(source: Source) -> VotesTable:
    """The columns that have a role."""
    roles = source.roles(source.header, content=partial(read_columns, source))
    return text_table(source, read_columns(source, roles.values()), roles)


def write(votes: Votes, path: Path, delimiter: str = ",") -> None:
    """A row for each vote."""
    write_delimited(to_table(votes), path, delimiter)


FORMAT = Format(
    "text with a header and one row for each vote; the delimiter is found",
    sniff,
    parse,
    write,
    (".csv",),
    has_columns=True,
    sample="task,worker,label\na,x,cat\n",
)
