"""Rows of whole tables, as values that do not depend on the kind of database.

A row is a list of JSON values: text, numbers, booleans and null as they are, bytes in base64, and JSON as its
text, so that JSON's null is told from the null of SQL.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    cast,
    func,
    select,
    text,
    type_coerce,
)
from sqlalchemy.types import TypeEngine

Kind = Literal["json", "boolean", "integer", "number", "bytes", "text"]
KINDS: dict[Kind, type[TypeEngine[Any]]] = {
    "json": JSON,
    "boolean": Boolean,
    "integer": Integer,
    "number": Float,
    "bytes": LargeBinary,
    "text": String,
}
ROWS_PER_FETCH = 1000  # of a table without files, whose rows are small
VERSION_TABLE = "alembic_version"


def reflect(c: Connection) -> MetaData:
    """All tables of a database, as they are there."""
    found = MetaData()
    found.reflect(c)
    return found


def column_kinds(table: Table) -> dict[str, Kind]:
    """The kind of values in each column."""
    return {column.name: _kind(column.type) for column in table.columns}


def _kind(type: TypeEngine[Any]) -> Kind:
    return next(kind for kind, base in KINDS.items() if isinstance(type, base))


def read_rows(c: Connection, table: Table) -> Iterator[list[Any]]:
    """All rows of a table, a few at a time in memory."""
    kinds = list(column_kinds(table).values())
    at_once = 1 if "bytes" in kinds else ROWS_PER_FETCH  # files may be large
    query = select(*(_selected(c, column) for column in table.columns))
    encoders = [(n, ENCODERS[kind]) for n, kind in enumerate(kinds) if kind in ENCODERS]
    for found in c.execute(query, execution_options={"yield_per": at_once}):
        row = list(found)
        for n, encode in encoders:
            if row[n] is not None:
                row[n] = encode(row[n])
        yield row


def _selected(c: Connection, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column, JSON as it is stored: text, though SQLite stores a bare number as a number."""
    if not isinstance(column.type, JSON):
        return column
    as_stored = type_coerce(column, String) if c.dialect.name == "sqlite" else cast(column, Text)
    return as_stored.label(column.name)


def _json_text(stored: Any) -> str:
    return stored if isinstance(stored, str) else json.dumps(stored)


ENCODERS: dict[Kind, Callable[[Any], Any]] = {
    "bytes": lambda data: b64encode(data).decode(), "json": _json_text
}  # fmt: skip


def load_rows(c: Connection, table: Table, kinds: Mapping[str, Kind], rows: Iterable[list[Any]]) -> None:
    """Insert rows into a table, in a write transaction; the values are in the order of the kinds of columns.

    PostgreSQL's COPY and SQLite's executemany take them one by one, and are many times faster than INSERTs.
    """
    quote = c.dialect.identifier_preparer.quote
    names = ", ".join(map(quote, kinds))
    with_bytes = _decoded(rows, [n for n, kind in enumerate(kinds.values()) if kind == "bytes"])
    cursor: Any = c.connection.cursor()  # of the driver
    try:
        if c.dialect.name == "sqlite":
            marks = ", ".join("?" * len(kinds))
            cursor.executemany(f"INSERT INTO {quote(table.name)} ({names}) VALUES ({marks})", with_bytes)
        else:
            with cursor.copy(f"COPY {quote(table.name)} ({names}) FROM STDIN") as copy:
                for row in with_bytes:
                    copy.write_row(row)
    except c.dialect.loaded_dbapi.Error as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"this database does not take the table {table.name} of the backup ({reason}); "
            "nothing was changed, restore it into another"
        ) from error
    finally:
        cursor.close()


def _decoded(rows: Iterable[list[Any]], columns: list[int]) -> Iterator[list[Any]]:
    for row in rows:
        for n in columns:
            if row[n] is not None:
                row[n] = b64decode(row[n])
        yield row


def restart_sequences(c: Connection, table: Table) -> None:
    """Let PostgreSQL number new rows after those that were loaded; SQLite does so by itself."""
    if c.dialect.name != "postgresql":
        return
    quoted = c.dialect.identifier_preparer.quote(table.name)
    for column in table.primary_key.columns:
        names = {"table": quoted, "column": column.name}
        sequence = c.execute(text("SELECT pg_get_serial_sequence(:table, :column)"), names).scalar_one()
        if sequence is not None:
            last = c.execute(select(func.max(column))).scalar_one()
            if last is not None:
                c.execute(text("SELECT setval(:sequence, :last)"), {"sequence": sequence, "last": last})
