"""Hosts of the load test: the service with many items, and a bare endpoint over such a database."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy import Column, Connection, Float, Integer, MetaData, String, Table, insert

from benchmarks.peers import ROOT
from crowdpilot.service.labelling.sessions import Session, sign_session
from crowdpilot.service.schemas import ProjectIn, VoteIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items, migrate, projects, workers
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.requesters import keys, members

SECRET = "benchmark-" * 4
ITEMS_PER_TRANSACTION = 5000
rows = Table(
    "bare_rows",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("item", Integer, nullable=False),
    Column("label", String(200)),
    Column("seconds", Float),
    Column("time", Float),
    Column("key", String(64)),
)


def settings_of(url: str) -> dict[str, Any]:
    """Settings without limits of requests."""
    return {"database": url, "secret": SECRET, "requests_per_second": 1e7, "burst": 10**8}


def create_bare(settings: Settings) -> FastAPI:
    """Two endpoints that insert one row and commit: in a thread of their own, and in the loop itself."""
    app, store = FastAPI(), Store(settings.database)

    @app.get("/healthz")
    async def healthz() -> str:
        return "alive"

    def write(vote: VoteIn) -> dict[str, bool]:
        with store.writing() as c:
            c.execute(insert(rows).values(time=time.time(), **vote.model_dump(exclude={"criterion"})))
        return {"committed": True}

    @app.post("/threads", status_code=201)
    def in_threads(vote: VoteIn) -> dict[str, bool]:
        return write(vote)

    @app.post("/loop", status_code=201)
    async def in_loop(vote: VoteIn) -> dict[str, bool]:
        return write(vote)

    return app


@dataclass
class Host:
    """A running service."""

    parent: subprocess.Popen[str]
    host: str
    port: int

    @property
    def web(self) -> int:
        """Process number of the web process, which is the first child that was spawned."""
        listed = Path(f"/proc/{self.parent.pid}/task/{self.parent.pid}/children").read_text().split()
        spawned = [p for p in map(int, listed) if "spawn_main" in Path(f"/proc/{p}/cmdline").read_text()]
        return min(spawned)

    @property
    def memory(self) -> float:
        """Megabytes that the web process holds."""
        status = Path(f"/proc/{self.web}/status").read_text()
        return float(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def serving(url: str, *, app: str = "", jobs: int = 1) -> Iterator[Host]:
    """Our service, or another application, with the same settings of the server."""
    more = f", app={app!r}" if app else ""
    code = f"""
import logging
from crowdpilot.service.settings import Settings
from crowdpilot.service.processes import supervise
logging.disable(logging.WARNING)
supervise(Settings(**{settings_of(url)!r}), host="127.0.0.1", port=0, web=1, jobs={jobs}{more},
          ready=lambda address: print(address, flush=True))
"""
    command = [sys.executable, "-c", code]
    parent = subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    try:
        host, port = parent.stdout.readline().strip().removeprefix("http://").split(":")
        yield Host(parent, host, int(port))
    finally:
        parent.terminate()
        parent.wait(timeout=30)
        parent.stdout.close()


def fill(url: str, n_items: int, n_workers: int, K: int) -> tuple[str, list[str]]:
    """A project with so many items and workers; its id, and their tokens."""
    store = Store(url)
    migrate(store)
    spec = {"name": "load", "classes": [f"class {k}" for k in range(K)], "costs": {"prices": {"crowd": 0.02}}}
    with store.writing() as c:
        project = projects.create(c, ProjectIn.model_validate(spec).model_dump())
    for first in range(0, n_items, ITEMS_PER_TRANSACTION):
        names = range(first, min(first + ITEMS_PER_TRANSACTION, n_items))
        new = [{"name": f"item {n}", "content": {"text": f"This is the text of item {n}."}} for n in names]
        with store.writing() as c:
            items.add(c, project, new)
    with store.writing() as c:
        sessions = [_new_session(c, project, f"worker {n}") for n in range(n_workers)]
    store.close()
    return project, [sign_session(SECRET, session) for session in sessions]


def _new_session(c: Connection, project: str, name: str) -> Session:
    """The session of a new worker of a project."""
    worker = workers.register(c, project, "link", name, kind="crowd", state=workers.ACTIVE)
    assignment = assignments.find_or_create(c, project, worker.id, "")
    return Session(project, worker.id, "link", assignment.id, worker.nonce)


def new_key(url: str) -> str:
    """A key of an operator, which may do everything."""
    store = Store(url)
    with store.writing() as c:
        key = keys.create(c, members.find_or_create(c, "benchmark", operator=True).id, "benchmark", "admin")
    store.close()
    return key


def prepare_bare(url: str) -> None:
    """An empty table."""
    store = Store(url)
    rows.metadata.drop_all(store.engine)
    rows.metadata.create_all(store.engine)
    store.close()
