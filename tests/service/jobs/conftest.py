"""Sites over one database or both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.jobs.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A site over SQLite."""
    made = Site(f"sqlite:///{tmp_path / 'site.db'}")
    yield made
    made.close()


@pytest.fixture
def any_site(database_url: str) -> Iterator[Site]:
    """A site over each kind of database."""
    made = Site(database_url)
    yield made
    made.close()
