"""Services over both kinds of database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.harness.service import Project, Service, sqlite_url


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over each kind of database, for the tests of a module, which have projects of their own."""
    if request.param == "sqlite":
        made = Service(sqlite_url(tmp_path_factory.mktemp("service")))
        yield made
        made.close()
        return
    with request.getfixturevalue("postgres").database() as address:
        made = Service(address)
        yield made
        made.close()


@pytest.fixture
def project(service: Service) -> Project:
    """A project with two classes and no items."""
    return service.project()
