"""A service with one project for the tests of the worker pages, and what workers do there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi.testclient import TestClient

from crowdpilot.service.store import projects, workers
from crowdpilot.service.store.tables import votes
from tests.service.harness.service import ADDRESS, Service, create_project, invite

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


class WorkerService(Service):
    """A service with one project."""

    def __init__(
        self,
        url: str,
        spec: dict[str, Any],
        address: str = ADDRESS,
        contents: Sequence[dict[str, str]] = TEXTS,
    ) -> None:
        super().__init__(url, address)
        new = [{"name": f"item {n}", "content": content} for n, content in enumerate(contents)]
        self.id = create_project(self.store, spec, new)
        self.home = f"/w/{self.id}"

    def visitor(self) -> TestClient:
        """Somebody with a browser."""
        return self.client(accept="text/html")

    def invited(self, **who: Any) -> TestClient:
        """Somebody who has opened the link of an invitation."""
        client = self.visitor()
        client.get(self.home, params={"invite": invite(self.store, self.id, **who)})
        return client

    def change(self, **values: Any) -> None:
        with self.store.writing() as c:
            projects.change(c, self.id, **values)

    def worker(self, number: int = 1) -> Any:
        with self.store.reading() as c:
            return workers.find(c, self.id, number)

    def answers(self) -> list[Any]:
        with self.store.reading() as c:
            return [row for row in c.execute(votes.select()) if row.state in ("voted", "unsure")]

    @property
    def link(self) -> str:
        return f"{self.settings.address}{self.home}?invite={invite(self.store, self.id)}"

    def url(self, path: str) -> str:
        return f"{self.settings.address}{self.home}{path}"


def token(text: str) -> str:
    found = re.search(r'<meta name="csrf" content="([^"]+)">', text)
    assert found
    return found[1]


def leased(text: str) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in re.findall(r'data-item="(\d+)" data-criterion="(\d+)"', text)]


def vote(client: TestClient, home: str, csrf: str, item: int, **more: Any) -> Any:
    fields = {"item": item, "criterion": 0, "label": "Positive", "seconds": 1.5, "key": f"key-of-{item:08}"}
    return client.post(
        f"{home}/vote", json={**fields, **more}, headers={"X-CSRF-Token": csrf, "accept": "*/*"}
    )


def start_labelling(page: Any, service: WorkerService) -> None:
    page.goto(service.link)
    page.get_by_role("link", name="Start").click()
    page.wait_for_selector(".item:visible")


def press(page: Any, key: str) -> None:
    """Answer the item that is shown, once it is there for long enough not to be a slip."""
    page.wait_for_selector(".item:visible")
    before = page.locator("#done").inner_text()
    page.wait_for_timeout(170)
    page.keyboard.press(key)
    page.wait_for_function("before => document.getElementById('done')?.textContent !== before", arg=before)
