"""A whole service in the process of a test: database, keys, app, client, jobs; and its API as classes.

`Service` is the base of the harness; `Project` and `Worker` are a project and a worker over the HTTP API.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.platforms.invitation_links import sign_invitation
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items, migrate, projects
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.waiting import eventually, free_port

SECRET = "s" * 40
MEMBER = "ann"  # who owns the keys of a service under test
ADDRESS = "http://testserver"
PLAIN = {"name": "Films", "classes": ["bad", "good"], "costs": {"prices": {"crowd": 0.02, "expert": 0.5}}}
CRITERIA = {"name": "Papers", "classes": ["no", "yes"], "criteria": [{"name": "human"}, {"name": "trial"}]}
PNG = bytes.fromhex(  # one pixel
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6368"
    "00000082008177cd72b60000000049454e44ae426082"
)
GIF = bytes.fromhex(  # one pixel
    "47494638396101000100800000ffffff0000002c00000000010001000002024401003b"
)
CSV, NDJSON = {"content-type": "text/csv"}, {"content-type": "application/x-ndjson"}
MAX_JOBS = 1000  # that one call of `do_jobs` may do


def settings_of(url: str, **options: Any) -> dict[str, Any]:
    """Settings of a service over a database, without limits of requests."""
    return {"database": url, "secret": SECRET, "requests_per_second": 1e6, "burst": 10**6, **options}


def sqlite_url(folder: Path) -> str:
    """Address of a new SQLite file in a folder."""
    return f"sqlite:///{folder / f'{uuid.uuid4().hex}.db'}"


def migrated_store(url: str) -> Store:
    """A store over a database with the present schema."""
    store = Store(url)
    migrate(store)
    return store


def create_project(store: Store, spec: Mapping[str, Any], contents: Sequence[Mapping[str, Any]] = ()) -> str:
    """Create a project with items, written straight to the store; its id."""
    with store.writing() as c:
        project = projects.create(c, ProjectIn.model_validate(spec).model_dump())
        members.set_role(c, project, members.find_or_create(c, MEMBER).id, "admin")
        if contents:
            items.add(c, project, contents)
    return project


def invite(store: Store, project: str, **invitation: Any) -> str:
    """The token of a new invitation, for everybody unless it says otherwise."""
    with store.writing() as c:
        row = invitations.create(c, project, **{"kind": "crowd", **invitation})
    return sign_invitation(SECRET, project, row.id)


class Service:
    """A service whose jobs are done when a test says so; requests carry a key that may write.

    Parameters
    ----------
    url
        Of the database, which is migrated.
    address
        The public address of the service.
    options
        Further settings.
    """

    def __init__(self, url: str, address: str = ADDRESS, **options: Any) -> None:
        self.settings = Settings(**settings_of(url, address=address, **options))
        self.store = migrated_store(url)
        self.context = JobContext(self.store, self.settings)

    @cached_property
    def key(self) -> str:
        """An API key that may write."""
        return self.new_key("write")

    def new_key(self, scope: str) -> str:
        """A new API key of this scope, of the one member that owns all projects of the service."""
        with self.store.writing() as c:
            return keys.create(c, members.find_or_create(c, MEMBER).id, f"the {scope} key", scope)

    @cached_property
    def keys(self) -> dict[str, str]:
        """A key of each scope."""
        return {scope: self.new_key(scope) for scope in keys.SCOPES}

    @cached_property
    def app(self) -> FastAPI:
        """The application, which has a store of its own."""
        return create_app(self.settings)

    @cached_property
    def http(self) -> TestClient:
        """A client without credentials."""
        return TestClient(self.app, base_url=self.settings.address, raise_server_exceptions=False)

    def client(self, **headers: str) -> TestClient:
        """A client with cookies of its own, and these headers."""
        return TestClient(self.app, base_url=self.settings.address, headers=headers)

    def close(self) -> None:
        """End the threads of the application, and close all connections."""
        if "app" in self.__dict__:
            self.app.state.labelling.close()
            self.app.state.store.close()
        self.store.close()

    def send(self, method: str, path: str, **options: Any) -> Any:
        """The response to a request with the key."""
        headers = {"X-API-Key": self.key, **options.pop("headers", {})}
        return self.http.request(method, path, headers=headers, **options)

    def project(self, **spec: Any) -> Project:
        """A new project, made over the API."""
        made = self.send("POST", "/api/projects", json={**PLAIN, **spec})
        assert made.status_code == 201, made.text
        return Project(self, **made.json())

    def do_jobs(self) -> None:
        """Run all jobs that are due, until there are none."""
        for _ in range(MAX_JOBS):
            if not runner.step(self.context, "tests"):
                return
        raise AssertionError("jobs do not end")

    @contextmanager
    def running_jobs(self) -> Iterator[None]:
        """A thread runs jobs as they become due."""
        stop = threading.Event()
        thread = threading.Thread(target=runner.run, args=(self.settings, "jobs-1", stop))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(60)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The application listens at its address, for browsers."""
        port = urlsplit(self.settings.address).port or 80
        server = uvicorn.Server(uvicorn.Config(self.app, port=port, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        eventually(lambda: server.started)
        try:
            yield
        finally:
            server.should_exit = True
            thread.join(20)


def local_address() -> str:
    """An address of this machine at which nobody listens."""
    return f"http://127.0.0.1:{free_port()}"


class Project:
    """A project over the API."""

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

    def add_texts(self, n: int) -> None:
        """Items called i0, i1, and so on."""
        self.add(*({"name": f"i{k}", "text": f"Text {k}."} for k in range(n)))

    def add_votes(self, *votes: tuple[str, str, str], **more: Any) -> Any:
        """External votes: item, worker, label."""
        rows = [{"item": item, "worker": worker, "label": label, **more} for item, worker, label in votes]
        return self.post("/external-votes", json={"votes": rows})

    def decisions(self) -> dict[str, dict[str, Any]]:
        rows = self.get("/decisions?format=ndjson").text.splitlines()
        return {row["item"]: row for row in map(json.loads, rows)}

    def worker(self, **invitation: Any) -> Worker:
        """Somebody who starts to work."""
        link = self.post("/invitations", json=invitation).json()["link"]
        body = {"project": self.id, "invite": link.partition("invite=")[2]}
        session = self.service.http.post("/api/sessions", json=body)
        assert session.status_code == 201, session.text
        return Worker(self.service, session.json()["token"])


class Worker:
    """A worker with a session, over the API."""

    def __init__(self, service: Service, token: str) -> None:
        self.service, self.token = service, token

    def send(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        return self.service.http.request(method, path, headers=headers, **options)

    def next(self, n: int = 10) -> list[dict[str, Any]]:
        leased: list[dict[str, Any]] = self.send("GET", f"/api/next?n={n}").json()["items"]
        return leased

    def vote(self, item: int, label: str | None, **more: Any) -> Any:
        body = {"item": item, "label": label, "key": uuid.uuid4().hex, **more}
        return self.send("POST", "/api/votes", json=body)


@contextmanager
def running_service(url: str, *, jobs: bool = True) -> Iterator[Any]:
    """`send(method, path, body, token=)` to a service that runs its jobs; the parsed response."""
    service = Service(url)

    def send(method: str, path: str, body: Any = None, token: str = "") -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {"X-API-Key": service.key}
        response = service.http.request(method, path, json=body, headers=headers)
        assert response.status_code < 400, response.text
        if response.headers["content-type"].startswith("application/json"):
            return response.json()
        return [json.loads(line) for line in response.text.splitlines()]

    with service.running_jobs() if jobs else nullcontext():
        yield send
    service.close()
