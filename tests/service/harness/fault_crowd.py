"""A crowd in threads that labels over HTTP while processes are killed, and what is left in the tables."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import make_campaign
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import Store, projects, votes, workers
from tests.service.harness.processes import Caller, ProcessService, serving
from tests.service.harness.service import create_project, invite

CLASSES = ["a", "b", "c"]
UNDISTURBED_SHARE = 0.2  # of all votes, before the first kill


def make_project(store: Store, n_items: int, n_workers: int, lease: float) -> str:
    """A project that is done when every worker has labelled every item."""
    spec = {"name": "faults", "classes": CLASSES, "policy": f"fixed[votes={n_workers}]", "lease": lease,
            "plan": {"refit_every": 20, "refit_growth": 0.02}}  # fmt: skip
    new = [{"name": f"i{n}", "content": {"text": f"i{n}"}} for n in range(n_items)]
    return create_project(store, spec, new)


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

    service: ProcessService
    project: str
    seconds: float
    vanish: float = 0.0
    acknowledged: dict[tuple[str, int], int] = field(default_factory=dict)  # by item and worker
    sent: dict[tuple[str, int], int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
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
                    self.errors.append(f"next: {status} {found}")
                    return
                if rng.random() < self.vanish:
                    self.vanished += 1
                    self.stop.wait(1.5)  # longer than the lease
                    continue
                if not found["items"]:
                    self.stop.wait(0.1)
                for leased in found["items"]:
                    self.vote(caller, n, leased, rng)
        except TimeoutError as error:
            self.errors.append(str(error))
        finally:
            self.again += caller.again
            caller.close()

    def vote(self, caller: Caller, n: int, leased: dict[str, Any], rng: random.Random) -> None:
        name = leased["content"]["text"]
        label = opinion(name, n)
        self.sent[name, n] = label
        key = f"{rng.getrandbits(64):016x}"
        body = {"item": leased["item"], "label": CLASSES[label], "key": key}
        status, found = caller.ask("POST", "/api/votes", body)
        if status == 201:
            self.acknowledged[name, n] = label
        else:
            self.errors.append(f"vote: {status} {found}")


def opinion(item: str, worker: int) -> int:
    """The answer of a worker about an item: mostly right, always the same."""
    rng = random.Random(f"{item} {worker}")
    truth = int(item[1:]) % len(CLASSES)
    return truth if rng.random() < 0.7 else rng.randrange(len(CLASSES))


def sessions(service: ProcessService, project: str, n: int) -> tuple[list[str], dict[int, int]]:
    """Tokens of new workers, and the number of each by their id."""
    caller = Caller(service.address)
    tokens = []
    body = {"project": project, "invite": invite(service.store, project)}
    for _ in range(n):
        status, found = caller.ask("POST", "/api/sessions", body)
        assert status == 201, found
        tokens.append(found["token"])
    caller.close()
    with service.store.reading() as c:
        return tokens, {row.id: n for n, row in enumerate(workers.list_all(c, project))}


@dataclass
class Outcome:
    """What a run has left in the tables, and what was seen of it from outside."""

    project: str
    crowd: Crowd
    tokens: list[str]  # of the sessions of the workers
    number: dict[int, int]  # of each worker by their id
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
    in_the_middle: Callable[[Crowd], None] | None = None,
) -> Outcome:
    """Let a crowd label all items while web and job processes are killed so many times each.

    `in_the_middle` is called after half of the kills, and should return soon.
    """
    with serving(url, web) as service:
        project = make_project(service.store, n_items, n_workers, lease)
        tokens, number = sessions(service, project, n_workers)
        crowd = Crowd(service, project, seconds, vanish)

        def disturb() -> dict[str, int]:
            after = int(n_items * n_workers * UNDISTURBED_SHARE)
            return _kill(crowd, random.Random(seed), kills, pause, after, in_the_middle)

        return _label(crowd, tokens, number, disturb)


def go_on(url: str, before: Outcome, *, web: int, seconds: float = 60.0) -> Outcome:
    """Let the crowd of another run go on with a copy of its database, with the sessions they have."""
    with serving(url, web) as service:
        crowd = Crowd(service, before.project, seconds, sent=dict(before.crowd.sent))
        return _label(crowd, before.tokens, before.number, lambda: {"web": 0, "jobs": 0})


def _label(
    crowd: Crowd, tokens: list[str], number: dict[int, int], disturb: Callable[[], dict[str, int]]
) -> Outcome:
    threads = [threading.Thread(target=crowd.work, args=(n, tokens)) for n in range(len(tokens))]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        killed = disturb()
        _await_done(crowd.service.store, crowd.project, begun + crowd.seconds)
    finally:
        crowd.stop.set()
        for thread in threads:
            thread.join()
    took = time.monotonic() - begun
    row, table, campaign = read_tables(crowd.service.store, crowd.project, number)
    return Outcome(
        crowd.project, crowd, tokens, number, table, campaign.decide(), row.votes, row.done, killed, took
    )


def read_tables(
    store: Store, project: str, number: dict[int, int]
) -> tuple[Any, Counter[tuple[str, int, int]], Any]:
    """The row of the project, its votes (item, worker, label), and the campaign of a replica."""
    with store.reading() as c:
        replica = Replica(projects.find(c, project))
        row = replica.catch_up(c)
        table = Counter(
            (replica.item_names[vote.item], number[vote.worker], vote.label)
            for vote in votes.list_all(c, project)
        )
    return row, table, replica.campaign


def _kill(
    crowd: Crowd,
    rng: random.Random,
    kills: int,
    pause: tuple[float, float],
    after: int,
    in_the_middle: Callable[[Crowd], None] | None,
) -> dict[str, int]:
    """Kill processes once so many votes have been acknowledged."""
    killed = {"web": 0, "jobs": 0}
    while min(killed.values()) < kills and not crowd.errors:
        time.sleep(rng.uniform(*pause))
        if len(crowd.acknowledged) < after:
            continue
        what = rng.choice([what for what, n in killed.items() if n < kills])
        killed[what] += crowd.service.kill(what, rng)
        if in_the_middle is not None and sum(killed.values()) >= kills:
            in_the_middle(crowd)
            in_the_middle = None
    return killed


def _await_done(store: Store, project: str, deadline: float) -> None:
    while time.monotonic() < deadline:
        with store.reading() as c:
            if projects.find(c, project).done:
                return
        time.sleep(0.05)


def library_decisions(n_items: int, n_workers: int, given: Iterable[tuple[str, int, int]] = ()) -> Any:
    """The decisions of the library after all votes of the crowd, or after these (item, worker, label)."""
    spec = ProjectIn.model_validate(
        {"name": "x", "classes": CLASSES, "policy": f"fixed[votes={n_workers}]"}
    ).model_dump()
    campaign = make_campaign(spec)
    names = [f"i{n}" for n in range(n_items)]
    campaign.add(names)
    everything = ((name, w, opinion(name, w)) for w in range(n_workers) for name in names)
    campaign.tell([(name, w, CLASSES[label]) for name, w, label in given or everything], refit=True)
    return campaign.decide()


def assert_same_decisions(a: Any, b: Any) -> None:
    assert a.items.tolist() == b.items.tolist()
    assert a.labels.tolist() == b.labels.tolist()
    np.testing.assert_allclose(a.probs, b.probs, atol=1e-9)
    assert a.done.all()
    assert b.done.all()
