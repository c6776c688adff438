"""Votes as text with columns and a tab between them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from crowdpilot.io.format import VotesTable
from crowdpilot.io.formats import csv
from crowdpilot.io.source import Source


def sniff(source: Source) -> bool:
    """Whether it is such text, with tabs."""
    return source.delimiter == "\t" and csv.sniff(source)


def parse(source: Source) -> VotesTable:
    """The same as for CSV."""
    return csv.parse(replace(source, known_delimiter="\t"))


FORMAT = replace(
    csv.FORMAT,
    summary="the same with a tab between the columns",
    sniff=sniff,
    parse=parse,
    write=partial(csv.write, delimiter="\t"),
    suffixes=(".tsv", ".tab"),
    sample="task\tworker\tlabel\na\tx\tcat\n",
)
