"""Migrate: bring a database to the form that this version works with."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from crowdpilot.service.store.engine import Store

LOCK = 7_114_201  # any number that nobody else uses


def migrate(store: Store) -> None:
    """Take all steps that were not taken yet; several processes may try at once."""
    with store.writing() as connection:
        if not store.sqlite:
            connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def is_current(store: Store) -> bool:
    """Whether a database has the form that this version works with."""
    with store.reading() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
    return found == ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
