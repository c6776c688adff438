"""Store: connections and transactions on SQLite or PostgreSQL that behave alike; `Row`, the type of a row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy import Row as SqlRow
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.store.fair_lock import FairLock

Row = SqlRow[*tuple[Any, ...]]  # of a query, with its columns by name

LOCK_TIMEOUT_SECONDS = 10.0  # for a lock or a connection
APPLICATION_NAME = "crowdpilot"  # of our connections in PostgreSQL's view pg_stat_activity
POOL: dict[str, Any] = {
    "pool_size": 8, "max_overflow": 8, "pool_timeout": LOCK_TIMEOUT_SECONDS,
    "hide_parameters": True,  # in errors, which are logged
}  # fmt: skip
PRAGMAS = (  # of SQLite; deleted data is overwritten with zeros
    "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536", "secure_delete=ON",
)  # fmt: skip


class Store:
    """One database.

    Parameters
    ----------
    url
        `sqlite:///file.db` or `postgresql+psycopg://...`; a plain `postgresql://` is taken as the latter.
    """

    def __init__(self, url: str) -> None:
        self.url = url.replace("postgresql://", "postgresql+psycopg://").replace(
            "postgres://", "postgresql+psycopg://"
        )
        self.sqlite = self.url.startswith("sqlite")
        self._writer = FairLock()
        self._write = _engine(self.url, "BEGIN IMMEDIATE")
        self._read = _engine(self.url, "BEGIN") if self.sqlite else _repeatable_read(self._write)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read transaction: all its queries see one state of the database."""
        with _as_unavailable(), self._read.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A write transaction, committed at the end of the block, rolled back by an exception."""
        with _as_unavailable(), self._turn(), self._write.begin() as connection:
            yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A turn to write: SQLite has one writer at a time, and does not queue those who wait."""
        if not self.sqlite:
            yield
            return
        if not self._writer.acquire(LOCK_TIMEOUT_SECONDS):
            raise ServiceUnavailableError("the database was busy with other writers for too long")
        try:
            yield
        finally:
            self._writer.release()

    @property
    def engine(self) -> Engine:
        """For migrations."""
        return self._write

    def purge(self) -> bool:
        """Remove deleted data from the files of SQLite; whether that was possible, which readers may prevent.

        Deleted rows are overwritten in the file (`secure_delete`), but stay in the write-ahead log until it
        is copied to the file and cut off. PostgreSQL removes them by itself, by autovacuum.
        """
        if not self.sqlite:
            return True
        connection = self._write.raw_connection()
        try:
            row = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.close()
        return bool(row[0] == 0)

    def close(self) -> None:
        """Close all connections."""
        self._read.dispose()
        self._write.dispose()


def _engine(url: str, begin: str) -> Engine:
    if not url.startswith("sqlite"):
        named = {"application_name": APPLICATION_NAME}
        return create_engine(url, pool_pre_ping=True, connect_args=named, **POOL)
    engine = create_engine(url, connect_args={"timeout": LOCK_TIMEOUT_SECONDS}, **POOL)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin by the event below
        cursor = connection.cursor()
        for line in PRAGMAS:
            cursor.execute(f"PRAGMA {line}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _repeatable_read(engine: Engine) -> Engine:
    """The same connections with snapshot isolation, for read transactions."""
    return engine.execution_options(isolation_level="REPEATABLE READ")


@contextmanager
def _as_unavailable() -> Iterator[None]:
    """Raise a full disk, a lock timeout or a lost connection as `ServiceUnavailableError`."""
    try:
        yield
    except (OperationalError, PoolTimeout) as error:
        raise ServiceUnavailableError(str(getattr(error, "orig", error))) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise ServiceUnavailableError(str(error.orig)) from error
        raise
