"""A service with one project for the tests of the worker pages, and how they use it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.pages.worker.routes import worker_pages
from crowdpilot.service.platforms.invitation_links import invite
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items, migrate, projects, workers
from crowdpilot.service.store.tables import votes as votes_table
from tests.service.tools import eventually, free_port

SECRET = "x" * 40
HOSTILE = "<script>alert(1)</script><svg onload=alert(2)>{{ 7 * 7 }}\nsecond line"
TEXTS = [{"text": f"Review {n}. {HOSTILE}"} for n in range(8)]
PLAIN = {"name": "Film reviews", "classes": ["Positive", "Negative"], "question": "Does the writer like it?",
         "batch": 3, "plan": {"pilot_votes": 3, "per_item": 5}}  # fmt: skip
FULL = {
    **PLAIN,
    "consent": "You take part in a study.\n\nYou can stop at any time.",
    "instructions": "Read the whole text.",
    "examples": [{"text": "A gem.", "label": "Positive", "why": "It is praised."}],
    "quiz": [{"text": "Great fun.", "label": "Positive"}, {"text": "So dull.", "label": "Negative"}],
}
HTML = {"accept": "text/html"}


class Service:
    """A service with one project."""

    def __init__(
        self,
        folder: Path,
        spec: dict[str, Any],
        address: str = "http://testserver",
        contents: Sequence[dict[str, str]] = TEXTS,
    ) -> None:
        settings = Settings(database=f"sqlite:///{folder / 'test.db'}", secret=SECRET, address=address)
        store = Store(settings.database)
        migrate(store)
        new = [{"name": f"item {n}", "content": content} for n, content in enumerate(contents)]
        with store.writing() as c:
            self.project = projects.create(c, ProjectIn(**spec).model_dump())
            items.add(c, self.project, new)
        store.close()
        self.app = create_app(settings)
        if not any(getattr(route, "path", "") == "/w/{project}" for route in self.app.routes):
            self.app.include_router(worker_pages())
        self.store: Store = self.app.state.store
        self.home = f"/w/{self.project}"

    def client(self) -> TestClient:
        return TestClient(self.app, base_url=self.app.state.settings.address, headers=HTML)

    def invited(self, **who: Any) -> TestClient:
        """Somebody who has opened the link of an invitation."""
        client = self.client()
        client.get(self.home, params={"invite": invite(SECRET, self.project, **who)})
        return client

    def change(self, **values: Any) -> None:
        with self.store.writing() as c:
            projects.change(c, self.project, **values)

    def worker(self, number: int = 1) -> Any:
        with self.store.reading() as c:
            return workers.find(c, self.project, number)

    def answers(self) -> list[Any]:
        with self.store.reading() as c:
            return [row for row in c.execute(votes_table.select()) if row.state in ("voted", "unsure")]

    @property
    def link(self) -> str:
        return f"{self.app.state.settings.address}{self.home}?invite={invite(SECRET, self.project)}"

    def url(self, path: str) -> str:
        return f"{self.app.state.settings.address}{self.home}{path}"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    made: list[Service] = []

    def start(spec: dict[str, Any], **more: Any) -> Service:
        made.append(Service(tmp_path, spec, **more))
        return made[-1]

    yield start
    for service in made:
        service.app.state.labelling.close()
        service.store.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(spec: dict[str, Any], **more: Any) -> Service:
        port = free_port()
        site = Service(tmp_path, spec, address=f"http://127.0.0.1:{port}", **more)
        server = uvicorn.Server(uvicorn.Config(site.app, port=port, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        eventually(lambda: server.started)
        return site

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(10)


def token(text: str) -> str:
    found = re.search(r'<meta name="csrf" content="([^"]+)">', text)
    assert found
    return found[1]


def lent(text: str) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in re.findall(r'data-item="(\d+)" data-criterion="(\d+)"', text)]


def vote(client: TestClient, home: str, csrf: str, item: int, **more: Any) -> Any:
    fields = {"item": item, "criterion": 0, "label": "Positive", "seconds": 1.5, "key": f"key-of-{item:08}"}
    return client.post(
        f"{home}/vote", json={**fields, **more}, headers={"X-CSRF-Token": csrf, "accept": "*/*"}
    )


def start_labelling(page: Any, site: Service) -> None:
    page.goto(site.link)
    page.get_by_role("link", name="Start").click()
    page.wait_for_selector(".item:visible")


def press(page: Any, key: str) -> None:
    """Answer the item that is shown, once it is there for long enough not to be a slip."""
    before = page.locator("#done").inner_text()
    page.wait_for_timeout(170)
    page.keyboard.press(key)
    page.wait_for_function("before => document.getElementById('done')?.textContent !== before", arg=before)
