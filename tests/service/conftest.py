"""Databases and browsers for the tests of the service."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.equip import chromium, postgres_binaries
from tests.service.harness.label_studio_server import LabelStudio, running_label_studio
from tests.service.harness.mturk_server import MTurk, used_mturk
from tests.service.harness.postgres import Postgres, shared_postgres
from tests.service.harness.prolific_server import Prolific, used_prolific
from tests.service.harness.waiting import need

QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
]
SCREENS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "is_mobile": True,
        "has_touch": True,
    },
}
Open = Callable[..., Any]
DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)]


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A PostgreSQL server which all tests share; never stop it."""
    need(postgres_binaries(), "postgresql")
    own = tmp_path_factory.getbasetemp()
    with shared_postgres(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL server for one test, which it may stop, kill and start; it keeps its promises (fsync)."""
    need(postgres_binaries(), "postgresql")
    server = Postgres.make(fsync=True)
    yield server
    server.remove()


@pytest.fixture(params=DATABASES)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Address of a new empty database, once of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'test.db'}"
    else:
        with request.getfixturevalue("postgres").database() as address:
            yield address


@pytest.fixture(scope="session")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    """A Label Studio that all tests of a process share; each makes projects and users of its own."""
    with running_label_studio(tmp_path_factory.mktemp("label-studio")) as server:
        yield server


@pytest.fixture
def mturk(monkeypatch: pytest.MonkeyPatch) -> Iterator[MTurk]:
    """A server that stands in for Mechanical Turk, to which boto3 talks."""
    with used_mturk(monkeypatch) as server:
        yield server


@pytest.fixture
def prolific(monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    """A server that stands in for Prolific, to which the service talks."""
    with used_prolific(monkeypatch) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module.

    While it lives, its own event loop runs in this thread, and nothing else here can run one
    (`asyncio.run`): so it does not outlive the module.
    """
    from playwright.sync_api import sync_playwright

    path = need(chromium(), "chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield running
        running.close()


@pytest.fixture
def trouble() -> Iterator[list[str]]:
    """What pages complained of; a test that provokes something looks at it and clears the list."""
    found: list[str] = []
    yield found
    assert found == [], "the page has logged errors"


@pytest.fixture
def open_page(browser: Any, trouble: list[str]) -> Iterator[Open]:
    """Open an empty page: `open_page("phone", color_scheme="dark")`; each has cookies of its own."""
    contexts = []

    def show(screen: str = "desktop", **options: Any) -> Any:
        context = browser.new_context(**{**SCREENS[screen], **options})
        contexts.append(context)
        context.on("weberror", lambda error: trouble.append(str(error.error)))
        context.on("console", lambda said: trouble.extend([said.text] if said.type == "error" else []))
        page = context.new_page()
        page.set_default_timeout(10_000)
        return page

    yield show
    for context in contexts:
        context.close()


@pytest.fixture
def desktop(open_page: Open) -> Any:
    """An empty page on a desktop."""
    return open_page("desktop")


@pytest.fixture
def phone(open_page: Open) -> Any:
    """An empty page on a phone."""
    return open_page("phone")


@pytest.fixture(params=list(SCREENS))
def page(request: pytest.FixtureRequest, open_page: Open) -> Any:
    """An empty page, once on a desktop and once on a phone."""
    return open_page(request.param)
