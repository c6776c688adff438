"""Bulk insert: many rows in a few statements, each of which the database unpacks from JSON by itself.

So rows are encoded before the transaction begins, its locks are held for as long as the database needs and no
longer, and other threads run in the meantime: 200,000 items take SQLite about a second.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import JSON, Connection, Table, text

ROWS_PER_STATEMENT = 10_000


class EncodedRows(NamedTuple):
    """Rows to be inserted: the names of their columns, and their values as JSON, in parts."""

    columns: tuple[str, ...]
    parts: list[str]


def encode(table: Table, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> EncodedRows:
    """Encode these columns of rows; a missing value is null.

    Parameters
    ----------
    table
        Where the rows are to be inserted.
    columns
        Of which each row has a value of its own.
    rows
        By the names of the columns.
    """
    in_json = [isinstance(table.c[name].type, JSON) for name in columns]
    values = [
        [
            _encoded(row.get(name)) if nested else row.get(name)
            for name, nested in zip(columns, in_json, strict=True)
        ]
        for row in rows
    ]
    starts = range(0, len(values), ROWS_PER_STATEMENT)
    return EncodedRows(tuple(columns), [json.dumps(values[n : n + ROWS_PER_STATEMENT]) for n in starts])


def _encoded(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def insert_rows(c: Connection, table: Table, rows: EncodedRows, **common: Any) -> None:
    """Insert rows with further values that all have in common, in a write transaction."""
    statement = text(_statement(c, table, rows.columns, list(common)))
    for part in rows.parts:
        c.execute(statement, {**common, "rows_as_json": part})


def _statement(c: Connection, table: Table, own: Sequence[str], common: Sequence[str]) -> str:
    sqlite = c.dialect.name == "sqlite"
    if sqlite:
        values = [f"json_extract(value, '$[{n}]')" for n in range(len(own))]
    else:
        types = [table.c[name].type.compile(c.dialect) for name in own]
        values = [f"CAST(value ->> {n} AS {type})" for n, type in enumerate(types)]
    source = "json_each(:rows_as_json)" if sqlite else "json_array_elements(CAST(:rows_as_json AS json))"
    columns = ", ".join(f'"{name}"' for name in (*own, *common))
    selected = ", ".join([*values, *(f":{name}" for name in common)])
    return f"INSERT INTO {table.name} ({columns}) SELECT {selected} FROM {source}"
