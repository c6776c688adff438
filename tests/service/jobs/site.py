"""A service without processes for the tests of jobs, and a crowd of known quality."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, items, jobs, keys, leases, migrate, projects, votes, workers
from crowdpilot.service.store.votes import Answer

SECRET = "s" * 40
GOOD = ["splendid", "lovely", "bright", "warm", "charming", "fresh", "clever", "honest"]
BAD = ["dreadful", "dull", "stale", "cold", "boring", "clumsy", "awful", "false"]
FILL = [
    "the",
    "film",
    "story",
    "room",
    "place",
    "food",
    "day",
    "service",
    "and",
    "with",
    "very",
    "really",
    "was",
    "quite",
    "some",
]


class Site:
    """A service without processes: jobs are done when a test says so."""

    def __init__(self, url: str) -> None:
        self.settings = Settings(database=url, secret=SECRET, requests_per_second=1e6, burst=10**6)
        self.store = Store(url)
        migrate(self.store)
        self.context = JobContext(self.store, self.settings)
        self.truth: dict[str, int] = {}
        with self.store.writing() as c:
            self.headers = {"X-API-Key": keys.create(c, "me", "admin")}

    def project(self, **spec: Any) -> str:
        given = {"name": "reviews", "classes": ["no", "yes"], **spec}
        with self.store.writing() as c:
            return projects.create(c, ProjectIn.model_validate(given).model_dump())

    def add(self, project: str, n: int, *, first: int = 0, seed: int = 0, **more: Any) -> None:
        """Items i0, i1, ... whose texts tell their classes to who can read."""
        rng = np.random.default_rng([seed, first])
        new = []
        for k in range(first, first + n):
            true = int(rng.integers(2))
            self.truth[f"i{k}"] = true
            words = [*rng.choice((BAD, GOOD)[true], 3), *rng.choice(FILL, 6)]
            new.append({"name": f"i{k}", "content": {"text": " ".join(rng.permutation(words))}, **more})
        with self.store.writing() as c:
            items.add(c, project, new)

    def workers(self, project: str, n: int) -> list[int]:
        with self.store.writing() as c:
            return [
                workers.register(c, project, "link", f"w{k}", kind="crowd", state=workers.ACTIVE).id
                for k in range(n)
            ]

    def vote(
        self, project: str, names: Sequence[str], each: int = 3, *, skill: float = 0.85, seed: int = 1
    ) -> None:
        """Each of the first `each` workers labels these items, with errors."""
        rng = np.random.default_rng(seed)
        staff = self.workers(project, each)
        with self.store.writing() as c:
            ids = items.ids_by_name(c, project, names)
            for worker in staff:
                places = [(ids[name], 0) for name in names]
                number = int(projects.next_change(c, project, lease_requests=1).change_number)
                leases.create(c, project, [(worker, places)], time.time() + 900, number)
                said = [
                    Answer(
                        worker,
                        ids[name],
                        0,
                        self.truth[name] ^ int(rng.random() > skill),
                        1.0,
                        f"key-{worker}-{ids[name]}",
                    )
                    for name in names
                ]
                refused, _ = votes.write_answers(c, project, said)
                assert refused == [None] * len(said)

    def ask(self, project: str, kind: str, **given: Any) -> None:
        with self.store.writing() as c:
            jobs.enqueue(c, project, kind, **given)

    def work(self) -> None:
        """Do all jobs that are due."""
        for _ in range(100):
            if not runner.step(self.context, "tester"):
                return
        raise AssertionError("jobs do not end")

    def result(self, project: str, kind: str) -> Any:
        with self.store.reading() as c:
            last = jobs.last_done(c, project, kind)
            assert last is not None, [(row.kind, row.state, row.error) for row in jobs.latest(c, project)]
            return last.result

    def refit(self, project: str) -> Any:
        self.ask(project, "refit")
        self.work()
        return self.result(project, "refit")

    @contextmanager
    def client(self) -> Iterator[TestClient]:
        with TestClient(create_app(self.settings), headers=self.headers) as client:
            yield client

    def close(self) -> None:
        self.store.close()
