"""A service for walks through its pages, on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.harness.dashboard import DashboardService
from tests.service.harness.service import local_address


@pytest.fixture
def site(database_url: str) -> Iterator[DashboardService]:
    """A service that listens, with a process that does jobs."""
    made = DashboardService(database_url, local_address())
    with made.listening(), made.running_jobs():
        yield made
    made.close()
