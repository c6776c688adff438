"""Votes as JSON lines, or as a JSON array: one record for each vote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.json as arrow_json

from crowdpilot.io.format import Format, Raw
from crowdpilot.io.source import Source
from crowdpilot.io.tables import to_column, to_table
from crowdpilot.io.text import write_jsonl
from crowdpilot.votes import Votes

Columns = tuple[list[str], Callable[[str], pa.Array]]  # names, and the values of each

BLOCK = 1 << 23  # bytes read at once; no line may be longer
SUSPECT = (b"\nn", b"\n ", b"\n\t", b"\rn", b"\r ", b"\r\t")
NAMED = ("task", "worker", "label", "gold")
FAITHFUL = (pa.string(), pa.int64(), pa.bool_(), pa.null())  # types whose values come back as written


def sniff(source: Source) -> bool:
    """Whether it begins like JSON."""
    return source.opening in ("{", "[")


def parse(source: Source) -> Raw:
    """By Arrow if all is plain, else record by record, which is slower but knows the lines."""
    names, columns = _read_fast(source) or _read_records(source)
    roles = source.roles(names)
    table = pa.table({name: columns(name) for name in dict.fromkeys(roles.values())})
    return Raw(table, roles, source.columns.keys(), names, name=str(source.path), place=source.json_place)


def _read_fast(source: Source) -> Columns | None:
    """None if the values of a column differ in type, or if Arrow would change how they are written."""
    if source.opening != "{" or not _are_records(source):
        return None
    try:
        with source.open() as stream:
            table = arrow_json.read_json(stream, arrow_json.ReadOptions(block_size=BLOCK))
        roles = source.roles(table.column_names)
        for name in roles.values():
            table[name].validate(full=True)  # bytes that are no text are found only here
    except pa.ArrowException:
        return None
    is_plain = all(table[name].type in FAITHFUL for role, name in roles.items() if role in NAMED)
    return (table.column_names, table.column) if is_plain else None


def _are_records(source: Source) -> bool:
    """Whether no line begins otherwise than a record: Arrow does not survive a block of nulls."""
    last = b"\n"
    with source.open() as stream:
        while chunk := stream.read(BLOCK):
            text = last + chunk
            if any(start in text for start in SUSPECT):
                return False
            last = text[-1:]
    return True


def _read_records(source: Source) -> Columns:
    records = source.records
    names = dict.fromkeys(name for record in records for name in record)
    return list(names) or ["task", "worker", "label"], lambda name: to_column([r.get(name) for r in records])


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
