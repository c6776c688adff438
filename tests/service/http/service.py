"""A service to be tried over its API: its database, keys, projects, and workers at work."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.runner import step
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, keys, migrate

SECRET = "x" * 40
PLAIN = {"name": "Films", "classes": ["bad", "good"], "costs": {"prices": {"crowd": 0.02, "expert": 0.5}}}
CRITERIA = {"name": "Papers", "classes": ["no", "yes"], "criteria": [{"name": "human"}, {"name": "trial"}]}
PNG, GIF = b"\x89PNG\r\n\x1a\n" + b"0" * 60, b"GIF89a" + b"0" * 60
CSV, NDJSON = {"content-type": "text/csv"}, {"content-type": "application/x-ndjson"}


class Service:
    """A running service; requests carry a key that allows everything, unless other headers are given."""

    def __init__(self, url: str, **options: Any) -> None:
        self.settings = Settings(
            **{"database": url, "secret": SECRET, "requests_per_second": 1e6, "burst": 10**6, **options}
        )
        store = Store(url)
        migrate(store)
        with store.writing() as c:
            self.key = keys.create(c, "tests", "write")
        store.close()
        self.app = create_app(self.settings)
        self.store: Store = self.app.state.store
        self.context = JobContext(self.store, self.settings)
        self.client = TestClient(self.app, raise_server_exceptions=False)

    @classmethod
    def at(cls, folder: Path, **options: Any) -> Service:
        """Over a new SQLite file."""
        return cls(f"sqlite:///{folder / f'{uuid.uuid4().hex}.db'}", **options)

    def close(self) -> None:
        self.app.state.labelling.close()
        self.store.close()

    def send(self, method: str, path: str, **options: Any) -> Any:
        headers = {"X-API-Key": self.key, **options.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **options)

    def project(self, **spec: Any) -> Project:
        """A new project."""
        made = self.send("POST", "/api/projects", json={**PLAIN, **spec})
        assert made.status_code == 201, made.text
        return Project(self, **made.json())

    def new_key(self, scope: str) -> str:
        with self.store.writing() as c:
            return keys.create(c, scope, scope)

    def do_jobs(self) -> None:
        """Do all that is to be done."""
        while step(self.context, "tests"):
            pass


class Project:
    """A project of a service."""

    def __init__(self, service: Service, id: str, link: str) -> None:
        self.service, self.id, self.link = service, id, link

    def post(self, path: str, **options: Any) -> Any:
        return self.service.send("POST", f"/api/projects/{self.id}{path}", **options)

    def get(self, path: str = "", **options: Any) -> Any:
        return self.service.send("GET", f"/api/projects/{self.id}{path}", **options)

    def delete(self, path: str) -> Any:
        return self.service.send("DELETE", f"/api/projects/{self.id}{path}")

    def add(self, *items: dict[str, Any]) -> None:
        added = self.post("/items", json={"items": list(items)})
        assert added.status_code == 201, added.text

    def texts(self, n: int) -> None:
        """Items called i0, i1, and so on."""
        self.add(*({"name": f"i{k}", "text": f"Text {k}."} for k in range(n)))

    def tell(self, *votes: tuple[str, str, str], **more: Any) -> Any:
        votes = [{"item": item, "worker": worker, "label": label, **more} for item, worker, label in votes]
        return self.post("/external-votes", json={"votes": votes})

    def decisions(self) -> dict[str, dict[str, Any]]:
        rows = self.get("/decisions?format=ndjson").text.splitlines()
        return {row["item"]: row for row in map(json.loads, rows)}

    def worker(self, **invitation: Any) -> Worker:
        """Somebody who starts to work."""
        link = self.post("/invitations", json=invitation).json()["link"]
        given = {"project": self.id, "invite": link.partition("invite=")[2]}
        session = self.service.client.post("/api/sessions", json=given)
        assert session.status_code == 201, session.text
        return Worker(self.service, session.json()["token"])


class Worker:
    """A worker with a session."""

    def __init__(self, service: Service, token: str) -> None:
        self.service, self.token = service, token

    def send(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.service.client.request(method, path, headers=headers, **options)

    def next(self, n: int = 10) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.send("GET", f"/api/next?n={n}").json()["items"]
        return found

    def vote(self, item: int, label: str | None, **more: Any) -> Any:
        given = {"item": item, "label": label, "key": uuid.uuid4().hex, **more}
        return self.send("POST", "/api/votes", json=given)
