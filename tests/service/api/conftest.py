"""Services over both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.api.service import Project, Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service over SQLite."""
    made = Service.at(tmp_path)
    yield made
    made.close()


@pytest.fixture
def project(service: Service) -> Project:
    """A project with two classes and no items."""
    return service.project()
