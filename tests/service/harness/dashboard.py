"""A service for the tests of the dashboard: requesters who sign in, and simulated workers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi.testclient import TestClient

from crowdpilot.service.store import projects
from tests.service.harness.service import Service, create_project, invite, local_address

HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}"
REVIEWS: dict[str, Any] = {
    "name": "Film reviews", "classes": ["Negative", "Positive"], "question": "Does the writer like it?",
    "costs": {"prices": {"crowd": 0.05}},
}  # fmt: skip


class DashboardService(Service):
    """A service with requesters of each scope."""

    def visitor(self) -> TestClient:
        """Somebody who has not signed in."""
        return self.client(accept="text/html")

    def signed_in(self, scope: str = "admin") -> TestClient:
        """Somebody who has signed in with a key of this scope."""
        client = self.visitor()
        form = {"csrf": csrf(client.get("/login").text), "key": self.keys[scope]}
        assert client.post("/login", data=form).url.path == "/projects"
        return client

    def create(self, n: int = 12, **more: Any) -> str:
        """A project with some reviews; its id."""
        new = [{"name": f"item-{k}", "content": {"text": f"Review {k} {HOSTILE}"}} for k in range(n)]
        return create_project(self.store, {**REVIEWS, **more}, new)

    def invitation(self, id: str) -> str:
        """A new link to a project for everybody."""
        return f"{self.settings.address}/w/{id}?invite={invite(self.store, id)}"

    def work(self, id: str, votes: int = 10**6, names: tuple[str, ...] = ("ann", "ben", "cem")) -> int:
        """Simulated workers who are nearly always right vote over the API; how many votes they gave."""
        n_votes = 0
        tokens = {name: self.token(id, name) for name in names}
        while n_votes < votes:
            before = n_votes
            for name, token in tokens.items():
                headers = {"Authorization": f"Bearer {token}"}
                for leased in self.http.get("/api/next?n=5", headers=headers).json()["items"]:
                    label = truth(leased["content"]["text"])
                    vote = {
                        "item": leased["item"],
                        "label": label,
                        "seconds": 2.5,
                        "key": f"{name}-{leased['item']:08}",
                    }
                    assert self.http.post("/api/votes", json=vote, headers=headers).status_code == 201
                    n_votes += 1
            if n_votes == before:
                break
        return n_votes

    def token(self, id: str, name: str) -> str:
        session = {"project": id, "invite": invite(self.store, id, worker=name)}
        return str(self.http.post("/api/sessions", json=session).json()["token"])

    def rows(self) -> list[Any]:
        with self.store.reading() as c:
            return list(projects.list_all(c))


@contextmanager
def listening_service(url: str, address: str = "", **options: Any) -> Iterator[DashboardService]:
    """A service that listens, at a free address of this machine by default, with a process that does jobs."""
    made = DashboardService(url, address or local_address(), **options)
    with made.listening(), made.running_jobs():
        yield made
    made.close()


def truth(text: str) -> str:
    """The right answer about an item of `DashboardService.create`: every third review is negative."""
    number = int(re.findall(r"\d+", text)[0])
    return "Positive" if number % 3 else "Negative"


def csrf(text: str) -> str:
    """The token in a form of a page."""
    found = re.search(r'name="csrf" (?:value|content)="([^"]+)"', text)
    assert found
    return found[1]


def post(client: TestClient, path: str, page: str, **data: Any) -> Any:
    """Post the form of a page."""
    return client.post(path, data={"csrf": csrf(client.get(page).text), **data})


def sign_in(page: Any, site: Service, scope: str = "admin", *, address: str = "") -> None:
    """Sign in to the dashboard in a browser, with a key of this scope; perhaps not at its public address."""
    page.goto(f"{address or site.settings.address}/login")
    page.get_by_label("API key").fill(site.keys[scope])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/projects")
