"""A service for the tests of the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.harness.dashboard import DashboardService, listening_service
from tests.service.harness.service import sqlite_url


@pytest.fixture
def service(tmp_path: Path) -> Iterator[DashboardService]:
    """A service with requesters of each scope."""
    made = DashboardService(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[DashboardService]:
    """One that browsers can reach."""
    with listening_service(sqlite_url(tmp_path)) as made:
        yield made
