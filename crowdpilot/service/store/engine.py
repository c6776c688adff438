"""Engine: connections to SQLite or PostgreSQL that behave alike, and what is raised when there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from crowdpilot.service.errors import ServiceUnavailableError

WAIT = 10.0  # seconds for a lock or a connection


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
        self._write = _engine(self.url, "BEGIN IMMEDIATE")
        self._read = _engine(self.url, "BEGIN") if self.sqlite else _still(self._write)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database."""
        with _troubles(), self._read.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all that is done in it is done when it ends, or nothing is."""
        with _troubles(), self._write.begin() as connection:
            yield connection

    @property
    def engine(self) -> Engine:
        """For migrations."""
        return self._write

    def close(self) -> None:
        """Give all connections back."""
        self._read.dispose()
        self._write.dispose()

    def alive(self) -> bool:
        """Whether the database answers."""
        try:
            with self.reading() as connection:
                connection.execute(text("SELECT 1"))
        except ServiceUnavailableError:
            return False
        return True


def _engine(url: str, begin: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=8, pool_timeout=WAIT)
    engine = create_engine(
        url, connect_args={"timeout": WAIT}, pool_size=8, max_overflow=8, pool_timeout=WAIT
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        cursor = connection.cursor()
        for line in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-65536"):
            cursor.execute(f"PRAGMA {line}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _still(engine: Engine) -> Engine:
    """The same connections, where all statements of a transaction see the state at the first of them."""
    return engine.execution_options(isolation_level="REPEATABLE READ")


@contextmanager
def _troubles() -> Iterator[None]:
    """A full disk, a lock that is not given or a lost connection is nobody's fault who asks."""
    try:
        yield
    except (OperationalError, PoolTimeout) as error:
        raise ServiceUnavailableError(str(getattr(error, "orig", error))) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise ServiceUnavailableError(str(error.orig)) from error
        raise
