"""Services over one database or both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.harness.jobs import JobService
from tests.service.harness.service import sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[JobService]:
    """A service over SQLite."""
    made = JobService(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def any_service(database_url: str) -> Iterator[JobService]:
    """A service over each kind of database."""
    made = JobService(database_url)
    yield made
    made.close()
