"""Votes as JSON lines, or as a JSON array: one record for each vote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from crowdpilot.io.columns import Table, table_of
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable, row_text
from crowdpilot.io.formats.wide import looks_wide, to_long
from crowdpilot.io.inference.column_names import ALIASES
from crowdpilot.io.source import Source
from crowdpilot.io.tables.frames import readable_column
from crowdpilot.io.tables.inner_answers import InnerAnswers, inner_answers
from crowdpilot.io.tables.json_layouts import records_of
from crowdpilot.io.text_writing import write_jsonl
from crowdpilot.io.votes_tables import to_table
from crowdpilot.votes import Votes

TRIPLE = ("task", "worker", "label")


def sniff(source: Source) -> bool:
    """Whether it begins like JSON."""
    return source.opening in ("{", "[")


def parse(source: Source) -> VotesTable:
    """The quick way if there is one, else record by record, which is slower but knows the lines."""
    inner = _inner_answers(source)
    laid_out = inner.records if inner else _laid_out(source)
    is_lines = source.opening == "{" and laid_out is None
    table = engine().read_json_lines(source.open, partial(_roles, source)) if is_lines else None
    if table is None:
        table = _table(source.records if laid_out is None else laid_out)
    position = source.json_position if laid_out is None else row_text
    if "worker" in source.required and looks_wide(table, source.columns):
        frame = VotesTable(table, {}, source.columns.keys(), name=str(source.path), position=position)
        return to_long(frame, source.columns)
    roles = _roles(source, table)
    chosen = list(dict.fromkeys(roles.values()))
    votes = VotesTable(
        table.select(chosen), roles, source.columns.keys(), table.column_names,
        name=str(source.path), position=position,
    )  # fmt: skip
    return replace(votes, described=_described(roles, inner.fields)) if inner else votes


def _described(roles: Mapping[str, str], fields: Mapping[str, str]) -> dict[str, str]:
    return {role: repr(fields.get(roles[role], roles[role])) for role in ALIASES if role in roles}


def _roles(source: Source, table: Table) -> dict[str, str]:
    return source.roles(table.column_names, content=table.select)


def _inner_answers(source: Source) -> InnerAnswers | None:
    """The answers inside records, if the first record may hold some."""
    record = source.record
    if not isinstance(record, dict) or not any(isinstance(value, (list, dict)) for value in record.values()):
        return None
    try:
        return inner_answers(source.records, source.notes)
    except ValueError:  # one value over several lines, or something broken
        return None


def _laid_out(source: Source) -> list[dict[str, Any]] | None:
    """The records of a table that is one JSON value; None if each line or element is a record."""
    if isinstance(source.record, list):
        return _triples(source)
    if source.opening != "{" or records_of(source.record) is None:
        return None
    try:
        return records_of(source.document)
    except ValueError:  # several values, one in each line
        return None


def _triples(source: Source) -> list[dict[str, Any]] | None:
    rows = source.document
    wrong = next((row for row in rows if not isinstance(row, list) or len(row) != len(TRIPLE)), None)
    if wrong is not None:
        raise source.error(f"found {json.dumps(wrong)[:40]}, expected a record like {{...}}")
    return [dict(zip(TRIPLE, row, strict=True)) for row in rows]


def _table(records: Sequence[Mapping[str, Any]]) -> Table:
    """Each column as it is; what is wrong with the values of one is said when it is needed."""
    names = list(dict.fromkeys(name for record in records for name in record)) or TRIPLE
    return table_of({name: readable_column([record.get(name) for record in records]) for name in names})


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
