"""Votes as JSON lines, or as a JSON array: one record for each vote."""

from __future__ import annotations

from pathlib import Path

from crowdpilot.io.columns import Table, table_of
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import Source
from crowdpilot.io.text_writing import write_jsonl
from crowdpilot.io.votes_tables import to_table
from crowdpilot.votes import Votes


def sniff(source: Source) -> bool:
    """Whether it begins like JSON."""
    return source.opening in ("{", "[")


def parse(source: Source) -> VotesTable:
    """The quick way if there is one, else record by record, which is slower but knows the lines."""
    table = engine().read_json_lines(source.open, source.roles) if source.opening == "{" else None
    names = table.column_names if table else _names(source)
    roles = source.roles(names)
    chosen = list(dict.fromkeys(roles.values()))
    return VotesTable(
        table.select(chosen) if table else _read_records(source, chosen), roles, source.columns.keys(), names,
        name=str(source.path), position=source.json_position,
    )  # fmt: skip


def _names(source: Source) -> list[str]:
    names = dict.fromkeys(name for record in source.records for name in record)
    return list(names) or ["task", "worker", "label"]


def _read_records(source: Source, names: list[str]) -> Table:
    return table_of(
        {name: engine().column([record.get(name) for record in source.records]) for name in names}
    )


def write(votes: Votes, path: Path) -> None:
    """A record for each vote."""
    write_jsonl(to_table(votes), path)


FORMAT = Format(
    "JSON lines or a JSON array, one record for each vote",
    sniff,
    parse,
    write,
    (".jsonl", ".ndjson"),
    has_columns=True,
    sample='{"task": "a", "worker": "x", "label": "cat"}',
)
