"""Services for the tests of the worker pages, in this process or where a browser can reach them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.service.harness.service import local_address, sqlite_url
from tests.service.harness.worker_pages import WorkerService

PATIENCE_MS = 60_000  # with a browser, on a machine that has much else to do
KEEP_NOTICES = """() => {
  const notice = document.getElementById("notice");
  window.notices = [];
  new MutationObserver(() => notices.push(notice.textContent)).observe(notice, { childList: true });
}"""


@pytest.fixture
def open_page(open_page: Any) -> Any:
    """The same, with more patience."""

    def show(*args: Any, **options: Any) -> Any:
        page = open_page(*args, **options)
        page.set_default_timeout(PATIENCE_MS)
        return page

    return show


@pytest.fixture
def noticed() -> Any:
    """`noticed(page)` watches the notices of a page; what it returns waits for one with these words."""

    def watch(page: Any) -> Any:
        page.evaluate(KEEP_NOTICES)
        return lambda words: page.wait_for_function("words => notices.join().includes(words)", arg=words)

    return watch


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    """`make(spec)`: a service with a project of this description."""
    with ExitStack() as stack:

        def start(spec: dict[str, Any], **more: Any) -> WorkerService:
            service = WorkerService(sqlite_url(tmp_path), spec, **more)
            stack.callback(service.close)
            return service

        yield start


@pytest.fixture
def serve(make: Any) -> Iterator[Any]:
    """`serve(spec)`: the same, listening at an address of this machine."""
    with ExitStack() as stack:

        def start(spec: dict[str, Any], **more: Any) -> WorkerService:
            service: WorkerService = make(spec, address=local_address(), **more)
            stack.enter_context(service.listening())
            return service

        yield start
