"""Votes as text with columns and a tab between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats import csv
from crowdpilot.io.source import Source
from crowdpilot.io.text_writing import write_delimited
from crowdpilot.io.votes_tables import to_table
from crowdpilot.votes import Votes


def sniff(source: Source) -> bool:
    """Whether it is such text, with tabs."""
    return source.delimiter == "\t" and csv.sniff(source)


def parse(source: Source) -> VotesTable:
    """The same as for CSV."""
    return csv.parse(replace(source, known_delimiter="\t"))


def write(votes: Votes, path: Path) -> None:
    """A row for each vote."""
    write_delimited(to_table(votes), path, "\t")


FORMAT = Format(
    "the same with a tab between the columns",
    sniff,
    parse,
    write,
    (".tsv", ".tab"),
    has_columns=True,
    sample="task\tworker\tlabel\na\tx\tcat\n",
)
