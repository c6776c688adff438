"""A replica that is built from the tables has the same posterior as one that followed every change."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdpilot.service.errors import NotFoundError, RequestError, ServiceUnavailableError
from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling import replica as replica_module
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.replicas import Replicas
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, clock, items, jobs, leases, migrate, projects, votes, workers
from crowdpilot.service.store.answers.writing import Answer
from crowdpilot.service.store.requesters import reviews
from tests.service.harness.sessions import answer_of, session_of, undo, write_answers

PRICES = {"crowd": 0.02, "expert": 0.3}
SPECS: dict[str, dict[str, Any]] = {
    "classes": {"classes": ["a", "b", "c"], "plan": {"gold": 0.1, "explore": 0.1, "per_item": 6}},
    "machine": {"classes": ["a", "b"], "machine": "given", "costs": {"prices": PRICES, "classifier": 0.001}},
    "criteria": {"classes": ["no", "yes"], "criteria": [{"name": "x"}, {"name": "y"}]},
    "budget": {"classes": ["a", "b"], "costs": {"prices": PRICES, "budget": 3.0}},
    "fixed": {"classes": ["a", "b"], "policy": "fixed[votes=3]", "plan": {"per_worker": 20}},
}


class Walk:
    """A project to which anything may happen next, and a replica that follows it."""

    def __init__(self, url: str, spec: dict[str, Any], seed: int) -> None:
        self.store = Store(url)
        migrate(self.store)
        full = ProjectIn.model_validate({"name": "walk", "costs": {"prices": PRICES}, **spec}).model_dump()
        with self.store.writing() as c:
            self.id = projects.create(c, full)
            self.live = Replica(projects.find(c, self.id))
        self.spec, self.rng, self.items, self.workers = full, random.Random(seed), 0, list[int]()
        self.jobs = JobContext(self.store, Settings(database=url, secret="s" * 40))
        self.late = 0.0  # seconds by which the clock of leases runs ahead

    def step(self) -> str:
        """One more thing happens."""
        steps: dict[Callable[[], object], int] = {
            self.add: 2, self.enter: 2, self.lease: 9, self.answer: 14, self.undo: 3, self.expire: 2,
            self.finish: 1, self.block: 1, self.gold: 1, self.gone: 1, self.refit: 2, self.review: 3,
        }  # fmt: skip
        act = self.rng.choices(list(steps), list(steps.values()))[0]
        with suppress(RequestError):
            act()
        with self.store.reading() as c:
            self.live.catch_up(c)
        return act.__name__

    def add(self) -> None:
        K = len(self.spec["classes"])
        new = []
        for _ in range(self.rng.randint(1, 15)):
            raw = [self.rng.random() + 0.05 for _ in range(K)]
            machine = [p / sum(raw) for p in raw] if self.rng.random() < 0.7 else None
            gold = self.label() if self.rng.random() < 0.1 else None
            new.append({"name": f"i{self.items}", "content": {"text": "t"}, "gold": gold,
                        "classifier_probs": machine})  # fmt: skip
            self.items += 1
        with self.store.writing() as c:
            items.add(c, self.id, new)

    def label(self) -> Any:
        if not self.spec["criteria"]:
            return self.rng.choice(self.spec["classes"])
        return {q["name"]: self.rng.choice(self.spec["classes"]) for q in self.spec["criteria"]}

    def enter(self) -> None:
        kind = self.rng.choice(list(self.spec["costs"]["prices"]))
        with self.store.writing() as c:
            external = f"w{len(self.workers)}"
            made = workers.register(c, self.id, "link", external, kind=kind, state=workers.ACTIVE)
        self.workers.append(made.id)

    def worker(self) -> int:
        if not self.workers:
            raise NotFoundError("nobody has come")
        return self.rng.choice(self.workers)

    def lease(self) -> None:
        """As the lease queue does: choose in the replica, then commit, or release what is not committed."""
        worker = self.worker()
        with self.store.writing() as c:
            row = workers.find(c, self.id, worker)
            if row.state != workers.ACTIVE:
                return
            project = projects.find(c, self.id)
            asks = self.live.campaign.ask(worker, self.rng.randint(1, 6), kind=row.kind)
            number = projects.claim_lease_requests(c, self.id, project.lease_requests)
            if asks and number is not None and self.rng.random() < 0.9:
                keys = [self.live.database_key(ask) for ask in asks]
                leases.create(c, self.id, [(worker, keys)], clock.now(c) + self.late + 100, number)
            else:
                self.live.campaign.release(worker, asks)

    def answer(self) -> None:
        worker = self.worker()
        with self.store.writing() as c:
            held = leases.held_by(c, [worker]).get(worker, [])
            some = self.rng.sample(held, self.rng.randint(0, len(held)))
            if some:
                session = session_of(c, self.id, worker)
                write_answers(c, self.id, [self.said(session, *one) for one in some])

    def said(self, session: Session, item: int, criterion: int) -> Answer:
        label = None if self.rng.random() < 0.15 else self.rng.randrange(len(self.spec["classes"]))
        return answer_of(session, item, label, criterion=criterion, key=str(self.rng.random()))

    def undo(self) -> None:
        with self.store.writing() as c:
            undo(c, session_of(c, self.id, self.worker()), self.late + 100)

    def expire(self) -> None:
        self.late += 60
        with self.store.writing() as c:
            leases.expire(c, self.id, clock.now(c) + self.late)

    def finish(self) -> None:
        with self.store.writing() as c:
            leases.release(c, self.id, self.worker())

    def block(self) -> None:
        if self.rng.random() < 0.4:
            with self.store.writing() as c:
                worker = self.worker()
                workers.exclude(c, self.id, worker, workers.BLOCKED, trusted=self.rng.random() < 0.5)
            if self.rng.random() < 0.5:
                with self.store.writing() as c:
                    workers.change(c, self.id, worker, state=workers.ACTIVE, trusted=True)

    def review(self) -> None:
        """An expert decides, makes gold, asks for votes, or takes one of these back."""
        if not self.items:
            return
        change = self.rng.choice([
            {"override": {"label": self.label(), "by": "ann", "time": 1.0}}, {"override": None},
            {"gold": self.label(), "override": None}, {"gold": None}, {"votes_wanted": None},
            {"votes_wanted": self.rng.randint(1, 9), "state": items.OPEN},
        ])  # fmt: skip
        with self.store.writing() as c:
            name = f"i{self.rng.randrange(self.items)}"
            item = reviews.find(c, self.id, [name])[name]
            if item.state != items.WITHDRAWN:
                reviews.write(c, self.id, {item.id: change})

    def gold(self) -> None:
        if self.items:
            with self.store.writing() as c:
                items.set_gold(c, self.id, {f"i{self.rng.randrange(self.items)}": self.label()})

    def gone(self) -> None:
        if self.items:
            gone = self.rng.choice(["stopped", "withdrawn"])
            with self.store.writing() as c:
                chosen = f"i{self.rng.randrange(self.items)}"
                items.change(c, self.id, [chosen], state=gone, votes_wanted=None)

    def refit(self) -> None:
        with self.store.writing() as c:
            jobs.enqueue(c, self.id, "refit")
        while runner.step(self.jobs, "jobs-1"):
            pass

    def anew(self) -> Replica:
        """A replica that is built from the tables as they are now."""
        with self.store.reading() as c:
            replica = Replica(projects.find(c, self.id))
            replica.catch_up(c)
        return replica


def assert_alike(live: Replica, anew: Replica) -> None:
    """The parts of both campaigns are the same, whatever the order of changes."""
    a, b = live.campaign._parts, anew.campaign._parts
    for name in ("names", "votes_by_kind", "asked", "asked_count"):
        assert getattr(a.workers, name) == getattr(b.workers, name)
    assert a.items.names == b.items.names
    assert {key: len(prices) for key, prices in a.ledger.leases.items()} == {
        key: len(prices) for key, prices in b.ledger.leases.items()
    }
    np.testing.assert_array_equal(a.ledger.pending, b.ledger.pending)
    for name in ("pilot", "withdrawn", "stopped", "override", "votes_wanted"):
        np.testing.assert_array_equal(getattr(a.items, name), getattr(b.items, name))
    np.testing.assert_allclose(live.campaign.posterior(), anew.campaign.posterior(), atol=1e-12)
    # What is worth less than 0 is not asked for: of two kinds that gain nothing, rounding names the better.
    worth = [np.maximum(one.values.values, 0.0) for one in (a, b)]
    np.testing.assert_allclose(*worth, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(a.ledger.spent, b.ledger.spent, atol=1e-12)
    np.testing.assert_allclose(a.ledger.reserved, b.ledger.reserved, atol=1e-12)
    assert (a.leases.requests, a.leases.votes_since_refit) == (b.leases.requests, b.leases.votes_since_refit)


@pytest.mark.parametrize("spec", SPECS)
def test_a_rebuilt_replica_equals_the_live_one(database_url: str, spec: str) -> None:
    short = database_url.startswith("postgresql")
    walk = Walk(database_url, SPECS[spec], seed=0)
    trace = []
    try:
        for n in range(40 if short else 120):
            trace.append(walk.step())
            if n % (4 if short else 2) == 0:
                assert_alike(walk.live, walk.anew())
        assert_alike(walk.live, walk.anew())
    except AssertionError as error:
        raise AssertionError(f"after {trace}") from error
    finally:
        walk.store.close()
    assert len(set(trace)) > 5


@pytest.mark.parametrize("spec", SPECS)
def test_a_replica_that_is_read_in_small_parts_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    walk = Walk(f"sqlite:///{tmp_path / 'parts.db'}", SPECS[spec], seed=1)
    for _ in range(80):
        walk.step()
    monkeypatch.setattr(items, "ROWS_PER_PART", 7)
    monkeypatch.setattr(votes, "ROWS_PER_FETCH", 3)
    assert_alike(walk.live, walk.anew())
    walk.store.close()


def test_the_pilot_of_a_trained_classifier_is_drawn_from_the_first_upload(tmp_path: Path) -> None:
    walk = Walk(f"sqlite:///{tmp_path / 'pilot.db'}", {"classes": ["a", "b"], "machine": "tfidf"}, seed=2)
    for _ in range(3):
        with walk.store.writing() as c:
            names = range(walk.items, walk.items + 200)
            items.add(c, walk.id, [{"name": f"i{n}", "content": {"text": "t"}} for n in names])
            walk.items += 200
        with walk.store.reading() as c:
            walk.live.catch_up(c)
    assert walk.live.campaign.view.items().pilot.any()
    assert_alike(walk.live, walk.anew())
    walk.store.close()


def test_a_replica_whose_change_was_interrupted_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk = Walk(f"sqlite:///{tmp_path / 'broken.db'}", SPECS["classes"], seed=3)
    walk.add()
    replicas = Replicas(walk.store)
    before, _ = replicas.catch_up(walk.id, 10.0)
    walk.add()
    with monkeypatch.context() as broken:
        broken.setattr(votes, "changed_since", _lose_connection)
        with pytest.raises(ServiceUnavailableError):
            replicas.catch_up(walk.id, 10.0)
    after, _ = replicas.catch_up(walk.id, 10.0)
    assert before.is_half_changed
    assert not after.is_half_changed
    assert len(after.campaign) == walk.items
    walk.store.close()


def _lose_connection(*_: Any) -> Any:
    raise ServiceUnavailableError("the connection is lost")


def test_a_model_update_is_applied_bit_by_bit_if_time_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_module, "ITEMS_PER_RECOMPUTE", 3)
    walk = Walk(f"sqlite:///{tmp_path / 'a.db'}", SPECS["classes"], seed=5)
    for _ in range(60):
        walk.step()
    for act in 8 * (walk.enter, walk.lease, walk.answer):
        with suppress(RequestError), walk.store.reading() as c:
            walk.live.catch_up(c)
            act()
    walk.refit()
    with walk.store.reading() as c:
        walk.live.catch_up(c, max_seconds=0.0)
        posterior = walk.live.campaign.posterior()
        assert len(walk.live.outdated)
        walk.live.catch_up(c)
    np.testing.assert_array_equal(posterior, walk.live.campaign.posterior())
    assert_alike(walk.live, walk.anew())
    walk.store.close()
