"""Votes like peerannot's, the other way round: {worker: {task: label}}."""

from __future__ import annotations

from pathlib import Path

from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.formats.peerannot import parse_nested, write_nested
from crowdpilot.io.source import Source
from crowdpilot.io.tables.nested_votes import INVERSE
from crowdpilot.votes import Votes


def sniff(source: Source) -> bool:
    """Never: it looks the same as the other way round."""
    return False


def parse(source: Source) -> VotesTable:
    """The workers are outside, the tasks inside."""
    return parse_nested(source, INVERSE)


def write(votes: Votes, path: Path) -> None:
    """A file if the name ends in .json, else a folder."""
    pair = (votes.worker, votes.workers), (votes.task, votes.tasks)
    write_nested(votes, path, *pair, INVERSE)


FORMAT = Format(
    "the same as {worker: {task: label}}; has to be named", sniff, parse, write, sample='{"x": {"a": "cat"}}'
)
