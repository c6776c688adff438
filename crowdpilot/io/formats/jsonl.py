"""Votes as JSON lines, or as a JSON array: one record for each vote."""

from __future__ import annotations

from pathlib import Path

from crowdpilot.io.engine import Records, engine
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.source import Source
from crowdpilot.io.table_text import write_jsonl
from crowdpilot.io.tables import to_table
from crowdpilot.votes import Votes


def sniff(source: Source) -> bool:
    """Whether it begins like JSON."""
    return source.opening in ("{", "[")


def parse(source: Source) -> Raw:
    """The quick way if all is plain, else record by record, which is slower but knows the lines."""
    names, columns = engine().read_json(source) or _read_records(source)
    roles = source.roles(names)
    table = engine().table({name: columns(name) for name in dict.fromkeys(roles.values())})
    return Raw(table, roles, source.columns.keys(), names, name=str(source.path), place=source.json_place)


def _read_records(source: Source) -> Records:
    records = source.records
    names = dict.fromkeys(name for record in records for name in record)
    return list(names) or ["task", "worker", "label"], lambda name: engine().column(
        [r.get(name) for r in records]
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
