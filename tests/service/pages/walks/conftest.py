"""A service for walks through its pages, on each kind of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.harness.dashboard import DashboardService, listening_service


@pytest.fixture
def site(database_url: str) -> Iterator[DashboardService]:
    """A service that listens, with a process that does jobs."""
    with listening_service(database_url) as made:
        yield made
