"""A backup that is restored is the same database, whatever is in it and of whatever kind both are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import JSON, Column, Connection, Index, Table, UniqueConstraint, insert, null, select, text

from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.backup.restoring import open_backup, restore_backup
from crowdpilot.service.store.backup.saving import save_backup
from crowdpilot.service.store.backup.table_rows import column_kinds, reflect
from crowdpilot.service.store.migration import known_revisions, upgrade
from crowdpilot.service.store.tables import metadata

TEXT = st.characters(exclude_categories=["Cs"], exclude_characters="\0")  # which PostgreSQL cannot hold
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | st.text(TEXT)
JSONS = st.dictionaries(st.text(TEXT, max_size=3), LEAVES, max_size=3) | st.lists(LEAVES, max_size=3)
JSONS |= st.text(TEXT, max_size=5) | st.just(JSON.NULL)
VALUES: dict[str, Callable[[Column[Any]], st.SearchStrategy[Any]]] = {
    "json": lambda column: JSONS,
    "boolean": lambda column: st.booleans(),
    "integer": lambda column: st.integers(1 if column.primary_key else -(2**31), 2**31 - 1),
    "number": lambda column: st.floats(allow_nan=False).map(lambda x: x + 0.0),  # SQLite has no -0.0
    "bytes": lambda column: st.binary(max_size=300),
    "text": lambda column: st.text(TEXT, max_size=getattr(column.type, "length", None) or 20),
}
KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)]
Contents = dict[str, list[dict[str, Any]]]


@st.composite
def contents(draw: st.DrawFn) -> Contents:
    """Rows for all tables, whose references and unique values are sound."""
    found: Contents = {}
    for table in metadata.sorted_tables:
        rows = [draw(row_of(table, found)) for _ in range(draw(st.integers(0, 3)))]
        taken: set[Any] = set()
        found[table.name] = []
        for row in rows:
            keys = {
                (n, *(row[name] for name in key))
                for n, key in enumerate(unique_keys(table))
                if row and all(row[name] is not None for name in key)
            }
            if row and not keys & taken:
                taken |= keys
                found[table.name].append(row)
    return found


def row_of(table: Table, found: Contents) -> st.SearchStrategy[dict[str, Any]]:
    """A row of a table; an empty one if it would have to refer to a row that is not there."""
    parts: dict[str, st.SearchStrategy[Any]] = {}
    kinds = column_kinds(table)
    for column in table.columns:
        values = VALUES[kinds[column.name]](column)
        for key in column.foreign_keys:
            referred = [row[key.column.name] for row in found[key.column.table.name]]
            if not referred and not column.nullable:
                return st.just({})
            values = st.sampled_from(referred) if referred else st.none()
        if column.nullable:
            values |= st.just(null()) if kinds[column.name] == "json" else st.none()
        parts[column.name] = values
    return st.fixed_dictionaries(parts)


def unique_keys(table: Table) -> list[list[str]]:
    rules = [r for r in table.constraints if isinstance(r, UniqueConstraint)]
    indexes = [i for i in table.indexes if isinstance(i, Index) and i.unique]
    return [[c.name for c in r.columns] for r in (table.primary_key, *rules, *indexes) if len(r.columns)]


def fill(c: Connection, found: Contents) -> None:
    for table in reversed(metadata.sorted_tables):
        c.execute(table.delete())
    for table in metadata.sorted_tables:
        for row in found[table.name]:
            c.execute(insert(table).values(row))


def all_rows(store: Store) -> dict[str, list[str]]:
    """Every value of every table, and which of them are SQL's null."""
    with store.reading() as c:
        return {
            table.name: sorted(
                repr(list(row))
                for row in c.execute(select(table, *(column.is_(null()) for column in table.columns)))
            )
            for table in metadata.sorted_tables
        }


@contextmanager
def new_database(kind: str, request: pytest.FixtureRequest) -> Iterator[str]:
    if kind == "postgresql":
        with request.getfixturevalue("postgres").database() as url:
            yield url
    else:
        with TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/test.db"


@pytest.fixture(params=KINDS)
def filled(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A database with the present schema."""
    with new_database(request.param, request) as url:
        store = Store(url)
        migrate(store)
        yield store
        store.close()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(content=contents())
def test_a_restored_backup_is_the_same_database(
    request: pytest.FixtureRequest, filled: Store, kind: str, content: Contents
) -> None:
    """From either kind of database into either."""
    with filled.writing() as c:
        fill(c, content)
    before = all_rows(filled)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        url = stack.enter_context(new_database(kind, request))
        manifest = save_backup(filled, folder / "backup")
        with open_backup(folder / "backup") as archive:
            restore_backup(archive, url)
        restored = Store(url)
        stack.callback(restored.close)
        assert all_rows(restored) == before
    assert {entry.name: entry.rows for entry in manifest.tables} == {n: len(r) for n, r in before.items()}


def test_the_tables_of_every_revision_are_known(database_url: str) -> None:
    """A table that a migration drops has to be named among those of a backup of the schema before."""
    store = Store(database_url)
    for revision in known_revisions():
        with store.writing() as c:
            upgrade(c, revision)
            found = reflect(c)
        assert found.tables.keys() - metadata.tables.keys() == {"alembic_version"}
    store.close()
    for table in metadata.sorted_tables:
        assert column_kinds(found.tables[table.name]) == column_kinds(table)


def test_new_rows_are_numbered_after_those_that_were_restored(filled: Store, tmp_path: Path) -> None:
    """PostgreSQL's sequences are not rows."""
    log = metadata.tables["action_log"]
    row = {"time": 0.0, "category": "data", "actor": "a", "action": "b", "detail": {}}
    with filled.writing() as c:
        c.execute(insert(log).values(id=41, **row))
    save_backup(filled, tmp_path / "backup")
    filled.close()
    with open_backup(tmp_path / "backup") as archive:
        restore_backup(archive, filled.url, replace=True)
    with filled.writing() as c:
        assert c.execute(insert(log).values(row).returning(log.c.id)).scalar_one() == 42
        assert c.execute(text("SELECT count(*) FROM action_log")).scalar_one() == 2
