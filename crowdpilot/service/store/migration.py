"""Migration: bring the schema of a database to the one of this version, with Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from crowdpilot.service.store.engine import Store

ADVISORY_LOCK = 7_114_201  # any number that nobody else uses


def migrate(store: Store) -> None:
    """Apply all migrations that are missing, in one transaction; several processes may try at once."""
    with store.writing() as connection:
        if not store.sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def is_current(store: Store) -> bool:
    """Whether the schema of a database is that of this version."""
    with store.reading() as connection:
        revision = MigrationContext.configure(connection).get_current_revision()
    return revision == ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
