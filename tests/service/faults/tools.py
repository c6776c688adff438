"""A service in processes of its own, a crowd that labels over HTTP, and the hand that kills."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms import invitation_links
from crowdpilot.service.project_campaign import make_campaign
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import Store, items, keys, migrate, projects, votes, workers

SECRET = "faults-" * 6
CLASSES = ["a", "b", "c"]


def settings_of(url: str) -> dict[str, Any]:
    return {"database": url, "secret": SECRET, "requests_per_second": 1e6, "burst": 10**6}


# The service


@dataclass
class Service:
    """The real service: its address, its parent process, and a key of a requester."""

    parent: subprocess.Popen[str]
    address: str
    store: Store
    key: str

    def children(self, what: str) -> list[int]:
        """Process numbers of those that answer ('web') or work ('jobs'), by what they wait for."""
        pids = Path(f"/proc/{self.parent.pid}/task/{self.parent.pid}/children").read_text().split()
        shared = {link for link in _open(self.parent.pid) if link.startswith("socket:")}
        return [pid for pid in map(int, pids) if _role(pid, shared) == what]

    def kill(self, what: str, rng: random.Random) -> int:
        """Kill one process of this kind, if there is one; how many were killed."""
        found = self.children(what)
        if not found:
            return 0
        os.kill(rng.choice(found), signal.SIGKILL)
        return 1


def _role(pid: int, shared: set[str]) -> str:
    """Web processes hold the socket at which the parent listens; others with a database do jobs."""
    held = _open(pid)
    if held & shared:
        return "web"
    return "jobs" if any(link.startswith("socket:") or link.endswith(".db") for link in held) else ""


def _open(pid: int) -> set[str]:
    """What a process has open."""
    try:
        return {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    except OSError:  # it has just ended
        return set()


@contextmanager
def serving(url: str, web: int) -> Iterator[Service]:
    """The service over a migrated database, until the end of the block."""
    store = Store(url)
    migrate(store)
    with store.writing() as c:
        key = keys.create(c, "tests", "admin")
    code = f"""
import logging
from crowdpilot.service.settings import Settings
from crowdpilot.service.processes import supervise
logging.disable(logging.WARNING)
supervise(Settings(**{settings_of(url)!r}), host="127.0.0.1", port=0, web={web}, jobs=1,
          ready=lambda address: print(address, flush=True))
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    try:
        yield Service(parent, parent.stdout.readline().strip(), store, key)
    finally:
        parent.terminate()
        parent.wait(timeout=30)
        parent.stdout.close()
        store.close()


# A caller who does not give up


class Caller:
    """One keep-alive connection; what gets no answer, or 503, is sent again as it was."""

    def __init__(self, address: str, token: str = "", key: str = "", until: float = 60.0) -> None:
        where = urlsplit(address)
        self.host, self.port = where.hostname or "", where.port or 0
        self.headers = {"Content-Type": "application/json"}
        self.headers |= {"Authorization": f"Bearer {token}"} if token else {}
        self.headers |= {"X-API-Key": key} if key else {}
        self.deadline = time.monotonic() + until
        self.again = 0
        self._line: http.client.HTTPConnection | None = None

    def once(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON; an `OSError` or `HTTPException` if there is no answer."""
        if self._line is None:
            self._line = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            self._line.request(method, path, None if body is None else json.dumps(body), self.headers)
            answer = self._line.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        return answer.status, json.loads(data) if data else None

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The answer, however often it takes until the deadline."""
        while time.monotonic() < self.deadline:
            try:
                status, found = self.once(method, path, body)
                if status not in (502, 503):
                    return status, found
            except (OSError, http.client.HTTPException):
                pass
            self.again += 1
            time.sleep(0.02)
        raise TimeoutError(f"no answer to {method} {path}")

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None


# A crowd


@dataclass
class Crowd:
    """Workers in threads, each of whom labels every item; what they say follows from item and worker.

    Parameters
    ----------
    service
        For whom they work.
    project
        Its id.
    names
        Of the items, by their text.
    """

    service: Service
    project: str
    seconds: float
    vanish: float = 0.0
    acknowledged: dict[tuple[str, int], int] = field(default_factory=dict)  # by item and worker
    sent: dict[tuple[str, int], int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    vanished: int = 0
    again: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def work(self, n: int, tokens: list[str]) -> None:
        """One worker, until the project is done."""
        caller = Caller(self.service.address, tokens[n], until=self.seconds)
        rng = random.Random(n)
        try:
            while not self.stop.is_set():
                status, found = caller.ask("GET", "/api/next?n=5")
                if status != 200:
                    self.problems.append(f"next: {status} {found}")
                    return
                if rng.random() < self.vanish:
                    self.vanished += 1
                    self.stop.wait(1.5)  # longer than the lease
                    continue
                if not found["items"]:
                    self.stop.wait(0.1)
                for lent in found["items"]:
                    self.vote(caller, n, lent, rng)
        except TimeoutError as error:
            self.problems.append(str(error))
        finally:
            self.again += caller.again
            caller.close()

    def vote(self, caller: Caller, n: int, lent: dict[str, Any], rng: random.Random) -> None:
        name = lent["content"]["text"]
        label = opinion(name, n)
        self.sent[name, n] = label
        key = f"{rng.getrandbits(64):016x}"
        body = {"item": lent["item"], "label": CLASSES[label], "key": key}
        status, found = caller.ask("POST", "/api/votes", body)
        if status == 201:
            self.acknowledged[name, n] = label
        else:
            self.problems.append(f"vote: {status} {found}")


def opinion(item: str, worker: int) -> int:
    """What a worker says of an item: mostly right, always the same."""
    rng = random.Random(f"{item} {worker}")
    truth = int(item[1:]) % len(CLASSES)
    return truth if rng.random() < 0.7 else rng.randrange(len(CLASSES))


def make_project(store: Store, n_items: int, n_workers: int, lease: float) -> str:
    """A project that is done when every worker has labelled every item."""
    spec = {"name": "faults", "classes": CLASSES, "policy": f"fixed[votes={n_workers}]", "lease": lease}
    spec["plan"] = {"refit_every": 20, "refit_growth": 0.02}
    with store.writing() as c:
        project = projects.create(c, ProjectIn.model_validate(spec).model_dump())
        new = [{"name": f"i{n}", "content": {"text": f"i{n}"}} for n in range(n_items)]
        items.add(c, project, new)
    return project


def sessions(service: Service, project: str, n: int) -> tuple[list[str], dict[int, int]]:
    """Tokens of new workers, and the number of each by their id."""
    caller = Caller(service.address)
    tokens = []
    for _ in range(n):
        body = {"project": project, "invite": invitation_links.invite(SECRET, project)}
        status, found = caller.ask("POST", "/api/sessions", body)
        assert status == 201, found
        tokens.append(found["token"])
    caller.close()
    with service.store.reading() as c:
        return tokens, {row.id: n for n, row in enumerate(workers.list_all(c, project))}


@dataclass
class Outcome:
    """What a run has left in the tables, and what was seen of it from outside."""

    crowd: Crowd
    table: Counter[tuple[str, int, int]]  # item, worker, label
    decisions: Any
    votes: int
    done: bool
    kills: dict[str, int]
    seconds: float


def run(
    url: str,
    *,
    web: int,
    n_items: int,
    n_workers: int,
    kills: int = 0,
    pause: tuple[float, float] = (0.2, 0.7),
    lease: float = 1.0,
    vanish: float = 0.0,
    seed: int = 0,
    seconds: float = 60.0,
) -> Outcome:
    """Let a crowd label all items while web and job processes are killed so many times each."""
    with serving(url, web) as service:
        project = make_project(service.store, n_items, n_workers, lease)
        tokens, number = sessions(service, project, n_workers)
        crowd = Crowd(service, project, seconds, vanish)
        threads = [threading.Thread(target=crowd.work, args=(n, tokens)) for n in range(n_workers)]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        killed = _kill(service, random.Random(seed), kills, pause, crowd)
        try:
            _await_done(service.store, project, begun + seconds)
        finally:
            crowd.stop.set()
            for thread in threads:
                thread.join()
        took = time.monotonic() - begun
        with service.store.reading() as c:
            replica = Replica(projects.find(c, project))
            row = replica.catch_up(c)
            table = Counter(
                (replica.item_names[vote.item], number[vote.worker], vote.label)
                for vote in votes.list_all(c, project)
            )
        return Outcome(crowd, table, replica.campaign.decide(), row.votes, row.done, killed, took)


def _kill(
    service: Service, rng: random.Random, kills: int, pause: tuple[float, float], crowd: Crowd
) -> dict[str, int]:
    killed = {"web": 0, "jobs": 0}
    while min(killed.values()) < kills and not crowd.problems:
        time.sleep(rng.uniform(*pause))
        what = rng.choice([what for what, n in killed.items() if n < kills])
        killed[what] += service.kill(what, rng)
    return killed


def _await_done(store: Store, project: str, deadline: float) -> None:
    while time.monotonic() < deadline:
        with store.reading() as c:
            if projects.find(c, project).done:
                return
        time.sleep(0.05)


def library_decisions(n_items: int, n_workers: int) -> Any:
    """What the library decides if it is told the same votes."""
    spec = ProjectIn.model_validate(
        {"name": "x", "classes": CLASSES, "policy": f"fixed[votes={n_workers}]"}
    ).model_dump()
    campaign = make_campaign(spec)
    names = [f"i{n}" for n in range(n_items)]
    campaign.add(names)
    told = [(name, w, CLASSES[opinion(name, w)]) for w in range(n_workers) for name in names]
    campaign.tell(told, refit=True)
    return campaign.decide()


def assert_same_decisions(a: Any, b: Any) -> None:
    assert a.items.tolist() == b.items.tolist()
    assert a.labels.tolist() == b.labels.tolist()
    np.testing.assert_allclose(a.probs, b.probs, atol=1e-9)
    assert a.done.all()
    assert b.done.all()
