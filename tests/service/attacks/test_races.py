"""Workers and requesters at once, over two web processes: all counters agree, and no limit is passed."""

from __future__ import annotations

import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import select

from crowdpilot.service.labelling.sessions import form_token, read_session
from crowdpilot.service.store.tables import assignments, votes
from tests.service.harness.processes import Caller, ProcessService, serving
from tests.service.harness.service import SECRET, create_project

pytestmark = pytest.mark.thorough  # runs servers

WORKERS, ITEMS, STEPS = 8, 100, 160  # of each worker
PER_ITEM, PER_WORKER, PRICE, BUDGET = 6, 90, 0.1, 55.0
SPEC = {"name": "races", "classes": ["a", "b"], "policy": "fixed[votes=6]", "lease": 2.0, "min_answers": 2,
        "plan": {"per_item": PER_ITEM, "per_worker": PER_WORKER, "refit_every": 200}, "mturk": {},
        "costs": {"prices": {"crowd": PRICE}, "budget": BUDGET}}  # fmt: skip
ACTS = {"vote": 60, "again": 8, "late": 10, "unsure": 4, "next": 8, "undo": 8, "pause": 3, "finish": 3}
EXPECTED = {200, 201, 303, 401, 403, 409}
PATIENCE = 300.0  # seconds for all requests of one worker


@dataclass
class Someone:
    """A worker of MTurk with one connection, who comes back with a new assignment after each code."""

    service: ProcessService
    project: str
    number: int
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    codes: list[tuple[str, int]] = field(default_factory=list)  # with the number of the worker
    surprises: list[str] = field(default_factory=list)
    arrivals: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.number)
        self.caller = Caller(self.service.address, until=PATIENCE)
        self.held: list[int] = []
        self.answered: list[dict[str, Any]] = []
        self.seen: list[int] = []
        self.arrive()

    def arrive(self) -> None:
        self.arrivals += 1
        query = {"hitId": "H", "turkSubmitTo": "https://www.mturk.com", "workerId": f"W{self.number}",
                 "assignmentId": f"A{self.number}x{self.arrivals}"}  # fmt: skip
        status, found = self.caller.ask("POST", "/api/sessions", {"project": self.project, "mturk": query})
        if status != 201:
            return
        session = read_session(SECRET, found["token"], 1e9)
        self.worker, self.code = session.worker, ""  # of this session
        self.caller.headers |= {"Authorization": f"Bearer {found['token']}",
                                "Cookie": f"worker_session={found['token']}",
                                "X-CSRF-Token": form_token(SECRET, session)}  # fmt: skip

    def send(self, what: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        status, found = self.caller.ask(method, path, body)
        self.statuses[what, status] += 1
        if status not in EXPECTED:
            self.surprises.append(f"{what}: {status} {found}")
        return status, found

    def work(self) -> None:
        try:
            for _ in range(STEPS):
                what = self.rng.choices(list(ACTS), list(ACTS.values()))[0]
                getattr(self, what)()
        except (TimeoutError, OSError, ValueError) as error:
            self.surprises.append(repr(error))
        finally:
            self.caller.close()

    def next(self) -> None:
        status, found = self.send("next", "GET", "/api/next?n=6")
        if status == 200:
            self.held = [one["item"] for one in found["items"]]
            self.seen = list({*self.seen, *self.held})

    def vote(self) -> None:
        if not self.held:
            self.next()
        if self.held:
            self.answer("vote", self.held.pop(), "a")

    def unsure(self) -> None:
        if self.held:
            self.answer("unsure", self.held.pop(), None)

    def late(self) -> None:
        if self.seen:
            self.answer("late", self.rng.choice(self.seen), "b")

    def again(self) -> None:
        """The last answer is sent once more, as after a lost connection."""
        if self.answered:
            self.send("again", "POST", "/api/votes", self.answered[-1])

    def answer(self, what: str, item: int, label: str | None) -> None:
        vote = {"item": item, "label": label, "key": f"{self.rng.getrandbits(64):016x}"}
        status, _ = self.send(what, "POST", "/api/votes", vote)
        if status == 201:
            self.answered.append(vote)

    def undo(self) -> None:
        self.send("undo", "POST", "/api/votes/undo")

    def pause(self) -> None:
        status, _ = self.caller.ask("POST", f"/w/{self.project}/pause", {})
        self.statuses["pause", status] += 1
        self.held = []

    def finish(self) -> None:
        status, found = self.send("finish", "POST", "/api/finish")
        if status == 200:
            if found["code"] != self.code:  # a worker who was blocked on arrival still has the session before
                self.codes.append((found["code"], self.worker))
            self.code = found["code"]
            self.arrive()


def disturb(service: ProcessService, project: str, crowd: list[Someone], stop: threading.Event) -> None:
    """A requester pauses the project and blocks workers, and takes both back."""
    caller, rng = Caller(service.address, key=service.key, until=PATIENCE), random.Random(99)
    while not stop.wait(0.5):
        worker = rng.choice(crowd).worker
        for path in (f"/workers/{worker}/block", f"/workers/{worker}/unblock", "/pause", "/resume"):
            status, _ = caller.ask("POST", f"/api/projects/{project}{path}")
            assert status == 200
    caller.close()


def test_all_counters_agree_after_a_thousand_interleavings(database_url: str) -> None:
    with serving(database_url, web=2) as service:
        contents = [{"name": f"i{n}", "content": {"text": f"i{n}"}} for n in range(ITEMS)]
        project = create_project(service.store, SPEC, contents)
        crowd = [Someone(service, project, n) for n in range(WORKERS)]
        stop = threading.Event()
        requester = threading.Thread(target=disturb, args=(service, project, crowd, stop))
        threads = [threading.Thread(target=one.work) for one in crowd]
        for thread in (*threads, requester):
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        requester.join()
        check(service, project, crowd)


def check(service: ProcessService, project: str, crowd: list[Someone]) -> None:
    assert [problem for one in crowd for problem in one.surprises] == []
    done = sum((one.statuses for one in crowd), Counter[tuple[str, int]]())
    assert sum(done.values()) > 1000
    accepted = sum(n for (what, status), n in done.items() if status == 201 and what in ("vote", "late"))
    assert accepted > 300, done
    assert done["undo", 200], done
    assert done["finish", 200], done
    with service.store.reading() as c:
        rows = c.execute(select(votes).where(votes.c.project == project)).all()
        finished = c.execute(select(assignments).where(assignments.c.finished.is_not(None))).all()
    voted = Counter(row.worker for row in rows if row.state == "voted")
    held = [row for row in rows if row.state in ("voted", "leased")]
    assert max(Counter(row.item for row in held).values()) <= PER_ITEM
    assert max(Counter(row.worker for row in rows if row.state != "returned").values()) <= PER_WORKER
    assert PRICE * len(held) <= BUDGET + 1e-9
    assert {row.assignment for row in rows if row.state == "voted"} >= {row.id for row in finished}
    check_api(service, project, crowd, voted)


def check_api(service: ProcessService, project: str, crowd: list[Someone], voted: Counter[int]) -> None:
    """What requesters read is what the tables hold, in whatever process they ask."""
    total, home = sum(voted.values()), f"/api/projects/{project}"
    codes = [code for one in crowd for code in one.codes]
    for _ in range(6):
        caller = Caller(service.address, key=service.key)  # each connection may lead to another process
        found = caller.ask("GET", home)[1]
        assert found["votes"] == total
        assert found["status"]["votes"] == {"crowd": total}
        assert found["status"]["spent"] == pytest.approx(PRICE * total)
        pay = caller.ask("GET", f"{home}/pay?format=json")[1]["pay"]
        assert {one["worker"]: one["votes"] for one in pay if one["votes"]} == dict(voted)
        listed = caller.ask("GET", f"{home}/workers")[1]["workers"]
        assert {one["worker"]: one["votes"] for one in listed if one["votes"]} == dict(voted)
        owners = caller.ask("POST", f"{home}/codes", {"codes": [code for code, _ in codes]})[1]["codes"]
        assert [one["worker"] for one in owners] == [worker for _, worker in codes]
        caller.close()
    assert len({code for code, _ in codes}) == len(codes)
