"""Restoring a backup into a database of either kind, in one transaction: all of it or nothing."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, MetaData, delete, select, text

from crowdpilot.service.store.backup.archive import ArchiveReader, DamagedBackupError, Manifest
from crowdpilot.service.store.backup.encryption import EncryptedText, decrypt
from crowdpilot.service.store.backup.table_rows import (
    VERSION_TABLE,
    column_kinds,
    load_rows,
    reflect,
    restart_sequences,
)
from crowdpilot.service.store.engine import APPLICATION_NAME, Store
from crowdpilot.service.store.migration import lock_migrations, upgrade
from crowdpilot.service.store.tables import metadata

TABLES_OF_AN_EMPTY_DATABASE = ("clock", "counters", VERSION_TABLE)  # may have rows before anybody used it
DISCONNECT_SECONDS = 2.0
STOP_FIRST = "the service is running on this database; stop it first"


@contextmanager
def open_backup(file: Path) -> Iterator[ArchiveReader]:
    """A backup of which every part is as it was written; a `ValueError` says what is wrong."""
    with file.open("rb") as stream:
        archive = ArchiveReader(stream, file)
        archive.check()
        yield archive


def read_backup_secret(manifest: Manifest, passphrase: str) -> str | None:
    """The secret in a backup, None if it was made without; a `ValueError` for another passphrase."""
    if not isinstance(manifest.secret, EncryptedText):
        return manifest.secret
    if not passphrase:
        raise ValueError("the secrets of the backup are encrypted; give the passphrase, or restore without")
    return decrypt(manifest.secret, passphrase)


def restore_backup(
    archive: ArchiveReader, url: str, *, replace: bool = False,
    before_commit: Callable[[Connection], None] = lambda c: None,
) -> None:  # fmt: skip
    """Load all tables of a backup, and migrate them to the schema of this version.

    Parameters
    ----------
    archive
        From `open_backup`.
    url
        Of the database, which must be empty and not in use.
    replace
        Whether a database that is not empty is replaced; only tables of crowdpilot are.
    before_commit
        Called when all is loaded, in the same transaction; if it raises, nothing is changed.
    """
    with _unused_store(url) as store, store.writing() as c:
        if not store.sqlite:
            lock_migrations(c)  # nobody starts the service meanwhile
            _check_unused_server(c)
        _drop_tables(c, archive.manifest, replace)
        _load(c, archive)
        upgrade(c)
        before_commit(c)


@contextmanager
def _unused_store(url: str) -> Iterator[Store]:
    """The database; an SQLite file that had to be created for it is removed if it cannot be filled."""
    file = Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None
    is_new = file is not None and not file.exists()
    if file is not None:
        file.touch(0o600)
        _check_unused_file(file)
    store = Store(url)
    try:
        yield store
    except BaseException:
        store.close()
        if file is not None and is_new:
            file.unlink()
        raise
    store.close()


def _load(c: Connection, archive: ArchiveReader) -> None:
    upgrade(c, archive.manifest.schema_revision)
    tables = {table.name: table for table in reflect(c).sorted_tables if table.name in metadata.tables}
    expected = {name: set(column_kinds(table).items()) for name, table in tables.items()}
    if expected != {entry.name: set(entry.columns.items()) for entry in archive.manifest.tables}:
        raise DamagedBackupError("the tables of the backup are not those of its schema; take another copy")
    for name in reversed(tables):  # a migration may have written rows
        c.execute(delete(tables[name]))
    for entry in archive.manifest.tables:
        load_rows(c, tables[entry.name], entry.columns, archive.rows(entry))
        restart_sequences(c, tables[entry.name])


def _drop_tables(c: Connection, manifest: Manifest, replace: bool) -> None:
    """Make the database empty, if it may be."""
    found = reflect(c)
    ours = {*metadata.tables, *(entry.name for entry in manifest.tables), VERSION_TABLE}
    if others := sorted(found.tables.keys() - ours):
        raise ValueError(
            f"the database has tables that are not of crowdpilot ({', '.join(others)}); name an empty one"
        )
    if not replace and _has_rows(c, found):
        raise ValueError("the database is not empty; name another, or replace all that is in it with --force")
    found.drop_all(c)


def _has_rows(c: Connection, found: MetaData) -> bool:
    tables = [table for table in found.sorted_tables if table.name not in TABLES_OF_AN_EMPTY_DATABASE]
    return any(c.execute(select(1).select_from(table).limit(1)).first() is not None for table in tables)


def _check_unused_file(file: Path) -> None:
    """Raise if another process has the SQLite file open: it can leave the WAL mode only if none has."""
    connection = sqlite3.connect(file, timeout=0)
    try:
        connection.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError:
        raise ValueError(STOP_FIRST) from None
    except sqlite3.DatabaseError as error:
        raise ValueError(f"'{file}' is not a database ({error}); name another file") from None
    finally:
        connection.close()


def _check_unused_server(c: Connection) -> None:
    """Raise if another process of crowdpilot stays connected to the PostgreSQL database.

    A connection that was just closed is listed for a moment longer.
    """
    others = text(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"
    )
    deadline = time.monotonic() + DISCONNECT_SECONDS
    while c.execute(others, {"name": APPLICATION_NAME}).scalar_one():
        if time.monotonic() > deadline:
            raise ValueError(STOP_FIRST)
        time.sleep(0.05)
        c.execute(text("SELECT pg_stat_clear_snapshot()"))  # or the same list is read again
