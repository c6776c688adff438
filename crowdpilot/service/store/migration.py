"""Migration: bring the schema of a database to the one of this version, with Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.store.engine import Store

MAX_ATTEMPTS = 4  # each waits for a lock as long as any transaction
ADVISORY_LOCK = 7_114_201  # any number that nobody else uses


class NewerSchemaError(ValueError):
    """A database or a backup has a schema that this version of crowdpilot does not know."""


def migrate(store: Store) -> None:
    """Apply all migrations that are missing, in one transaction; several processes may try at once.

    Raises
    ------
    NewerSchemaError
        The database was made by a newer version; nothing was changed.
    """
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            _migrate(store)
            return
        except ServiceUnavailableError:  # several others migrate, one after the other
            if attempt == MAX_ATTEMPTS:
                raise


def _migrate(store: Store) -> None:
    with store.writing() as connection:
        if not store.sqlite:
            lock_migrations(connection)
        check_database(connection)
        upgrade(connection)


def lock_migrations(connection: Connection) -> None:
    """Wait until no other process migrates a PostgreSQL database, and let none do so in this transaction."""
    connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Apply the migrations up to a revision, in a write transaction."""
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def is_current(store: Store) -> bool:
    """Whether the schema of a database is that of this version."""
    with store.reading() as connection:
        return schema_revision(connection) == _scripts().get_current_head()


def schema_revision(connection: Connection) -> str | None:
    """The last migration that was applied to a database, None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def known_revisions() -> list[str]:
    """All migrations, from the first to the newest."""
    return [script.revision for script in _scripts().walk_revisions()][::-1]


def check_database(connection: Connection) -> None:
    """Raise a `NewerSchemaError` for a database whose last migration this version does not know."""
    revision = schema_revision(connection)
    if revision is not None and revision not in known_revisions():
        raise NewerSchemaError(
            f"the database was made by a newer version of crowdpilot (schema {revision}); upgrade "
            "crowdpilot, or restore a backup made before"
        )


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
