"""A service for the tests of jobs, and a crowd of known accuracy whose votes are written to the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from crowdpilot.service.app import create_app
from crowdpilot.service.store import items, jobs, leases, projects, workers
from tests.service.harness.receiver import LOOPBACK
from tests.service.harness.service import Service, create_project
from tests.service.harness.sessions import answer_of, session_of, write_answers

GOOD = ["splendid", "lovely", "bright", "warm", "charming", "fresh", "clever", "honest"]
BAD = ["dreadful", "dull", "stale", "cold", "boring", "clumsy", "awful", "false"]
FILL = ["the", "film", "story", "room", "place", "food", "day", "service", "and", "with", "very", "really",
        "was", "quite", "some"]  # fmt: skip


class JobService(Service):
    """A service with projects of texts whose true classes are known to the test."""

    def __init__(self, url: str) -> None:
        super().__init__(url, webhook_networks=LOOPBACK)
        self.truth: dict[str, int] = {}

    def create(self, **spec: Any) -> str:
        """A project without items; its id."""
        return create_project(self.store, {"name": "reviews", "classes": ["no", "yes"], **spec})

    def add(self, project: str, n: int, *, first: int = 0, seed: int = 0, **more: Any) -> None:
        """Items i0, i1, ... whose words depend on their classes."""
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
        ids_of_workers = self.workers(project, each)
        with self.store.writing() as c:
            ids = items.ids_by_name(c, project, names)
            for worker in ids_of_workers:
                all_items = [(ids[name], 0) for name in names]
                number = int(projects.next_change(c, project, lease_requests=1).change_number)
                leases.create(c, project, [(worker, all_items)], 1e12, number)
                session = session_of(c, project, worker)
                answers = [
                    answer_of(session, ids[name], self.truth[name] ^ int(rng.random() > skill))
                    for name in names
                ]
                assert write_answers(c, project, answers) == [None] * len(answers)

    def enqueue(self, project: str, kind: str, **arguments: Any) -> None:
        with self.store.writing() as c:
            jobs.enqueue(c, project, kind, **arguments)

    def result(self, project: str, kind: str) -> Any:
        with self.store.reading() as c:
            last = jobs.last_done(c, project, kind)
            assert last is not None, [(row.kind, row.state, row.error) for row in jobs.latest(c, project)]
            return last.result

    def refit(self, project: str) -> Any:
        self.enqueue(project, "refit")
        self.do_jobs()
        return self.result(project, "refit")

    def requester(self) -> TestClient:
        """A client of a requester; its `with` statement starts and ends an application."""
        return TestClient(create_app(self.settings), headers={"X-API-Key": self.new_key("admin")})
