"""The outlook of a worker: work now, later, never for them, or no more of anybody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from crowdpilot.service.labelling import labelling_service
from crowdpilot.service.labelling.assignment.outlook import COMPLETE, LATER, NEVER, NOW, Outlook
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.store import items, jobs, projects
from crowdpilot.service.store.answers import external_votes
from crowdpilot.service.store.answers.external_votes import StoredVote
from tests.service.harness.service import Service, create_project, sqlite_url
from tests.service.harness.sessions import new_session

BINARY: dict[str, Any] = {"name": "x", "classes": ["a", "b"]}
ONE_KIND = {"prices": {"crowd": 0.1}, "errors": [[0, 1], [1, 0]]}
TWO_KINDS = {"prices": {"crowd": 0.1, "expert": 0.3}, "errors": [[0, 1], [1, 0]]}


class Scene(Service):
    """A project of some items, and workers whose accuracy is known."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.labelling = LabellingService(self.store, self.settings)
        self.id, self.ids = "", list[int]()

    def create(self, n: int, more: Sequence[dict[str, Any]] = (), **spec: Any) -> None:
        names = [f"i{k}" for k in range(n)]
        new = [{"name": name, "content": {"text": name}} for name in names]
        known = [{**item, **one} for item, one in zip(new, more or [{}] * n, strict=True)]
        self.id = create_project(self.store, {**BINARY, **spec}, known)
        with self.store.reading() as c:
            found = items.ids_by_name(c, self.id, names)
        self.ids = [found[name] for name in names]

    def worker(self, name: str, kind: str = "crowd") -> Session:
        with self.store.writing() as c:
            return new_session(c, self.id, name, kind=kind)

    def votes(self, name: str, accuracy: float, some: range, kind: str = "crowd") -> Session:
        """A worker labels items, whose true classes are 0 and 1 in turn, with errors."""
        rng = np.random.default_rng(len(name))
        return self.say(name, {n: n % 2 ^ int(rng.random() > accuracy) for n in some}, kind)

    def say(self, name: str, labels: dict[int, int], kind: str = "crowd") -> Session:
        session = self.worker(name, kind)
        said = [StoredVote(self.ids[n], 0, session.worker, label, 1.0) for n, label in labels.items()]
        with self.store.writing() as c:
            external_votes.write(c, self.id, said)
        return session

    def refit(self) -> None:
        with self.store.writing() as c:
            jobs.enqueue(c, self.id, "refit")
        self.do_jobs()

    def outlook(self, session: Session, n: int = 10) -> Outlook:
        return asyncio.run(self.labelling.outlook(session, n))

    def outlook_of_newcomer(self, kind: str = "crowd") -> Outlook:
        return asyncio.run(self.labelling.outlook_of_newcomer(self.id, kind))

    def lease(self, session: Session, n: int) -> int:
        return len(asyncio.run(self.labelling.lease(session, n)))

    def close(self) -> None:
        self.labelling.close()
        super().close()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(sqlite_url(tmp_path))
    yield made
    made.close()


def with_a_guesser(scene: Scene) -> Session:
    """Three workers who know, one of whom holds items, and one who guesses: nothing is asked of them."""
    scene.create(300, costs=ONE_KIND)
    scene.votes("good", 0.9, range(200))
    scene.votes("better", 0.9, range(100, 300))
    holder = scene.votes("holder", 0.9, range(60))
    guesser = scene.votes("guesser", 0.5, range(100))
    scene.refit()
    assert scene.lease(holder, 3) == 3
    assert scene.lease(guesser, 10) == 0
    return guesser


def test_whose_votes_have_no_value_does_not_wait_for_the_leases_of_others(scene: Scene) -> None:
    guesser = with_a_guesser(scene)
    assert scene.outlook(guesser) == Outlook(NEVER)
    assert scene.outlook_of_newcomer() == Outlook(NOW), "the items are free, for others"


def test_who_waits_for_a_refit_gets_one_and_an_answer(scene: Scene) -> None:
    scene.create(20, costs={**ONE_KIND, "prices": {"crowd": 0.45, "expert": 0.01}}, plan={"pilot": 0})
    scene.votes("expert", 0.9, range(1), "expert")
    assert scene.outlook_of_newcomer() == Outlook(LATER)
    with scene.store.reading() as c:
        assert [job.kind for job in jobs.latest(c, scene.id)] == ["refit"]
    scene.do_jobs()
    assert scene.outlook_of_newcomer() == Outlook(COMPLETE)


def test_many_who_wait_for_a_refit_write_nothing(scene: Scene) -> None:
    scene.create(20, costs={**ONE_KIND, "prices": {"crowd": 0.45, "expert": 0.01}}, plan={"pilot": 0})
    scene.votes("expert", 0.9, range(1), "expert")
    scene.outlook_of_newcomer()
    written: list[str] = []
    event.listen(scene.store.engine, "begin", lambda _: written.append("begin"))
    for _ in range(5):
        assert scene.outlook_of_newcomer() == Outlook(LATER)
    assert len(written) <= 1, "at most the clock of leases"


def test_the_first_of_a_kind_finds_work_before_the_values_of_their_votes_are_known(scene: Scene) -> None:
    scene.create(50, costs={**TWO_KINDS, "prices": {"crowd": 0.1, "expert": 0.9}})
    assert scene.outlook_of_newcomer("expert") == Outlook(NOW)
    first = scene.worker("first", "expert")
    assert scene.outlook(first) == Outlook(NEVER), "their votes are not worth the price"
    assert scene.outlook_of_newcomer("expert").work != NOW


def test_the_first_of_a_kind_is_told_when_no_item_is_open_or_no_money_left(scene: Scene) -> None:
    scene.create(3, costs={**TWO_KINDS, "budget": 0.5})
    scene.votes("crowd", 0.9, range(3))
    assert scene.outlook_of_newcomer("expert") == Outlook(COMPLETE)
    scene.create(3, costs=TWO_KINDS)
    with scene.store.writing() as c:
        items.change(c, scene.id, ["i0", "i1", "i2"], state=items.WITHDRAWN)
    assert scene.outlook_of_newcomer("expert") == Outlook(COMPLETE)


def test_nobody_is_told_that_all_is_over_while_values_are_outdated(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling_service, "MAX_RECOMPUTE_SECONDS", 0.0)
    guesser = with_a_guesser(scene)
    assert scene.outlook(guesser) == Outlook(LATER)
    monkeypatch.undo()
    assert scene.outlook(guesser) == Outlook(NEVER)


def test_an_outlook_asks_for_as_many_items_as_the_page_would(scene: Scene) -> None:
    """Somebody tells a from b and not c from d: the few items with the largest values are not for them."""
    letters, rng = ["a", "b", "c", "d"], np.random.default_rng(0)
    errors = [[0, 0.7, 1, 1], [0.7, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
    probs = [[0.01, 0.01, 0.49, 0.49]] * 10 + [[0.49, 0.49, 0.01, 0.01]] * 10
    known = [{"classifier_probs": [0.25] * 4, "gold": letters[n % 4]} for n in range(20, 220)]
    scene.create(
        220, classes=letters, costs={"prices": {"crowd": 0.25}, "errors": errors}, plan={"pilot": 0},
        machine="given", more=[{"classifier_probs": own, "gold": None} for own in probs] + known,
    )  # fmt: skip
    for name in ("good", "better", "best"):
        scene.say(name, {n: n % 4 if rng.random() < 0.95 else (n + 1) % 4 for n in range(20, 220)})
    half = scene.say("half", {n: n % 4 if n % 4 < 2 else 2 + n // 4 % 2 for n in range(20, 220)})
    scene.refit()
    assert scene.outlook(half, 1) == Outlook(NEVER)
    assert scene.outlook(half, 3) == Outlook(NOW)
    assert scene.lease(half, 3) > 0


def replica_of(scene: Scene) -> Replica:
    return asyncio.run(scene.labelling.read(scene.id, lambda replica, _: replica))


def test_an_outlook_leaves_the_campaign_as_it_was(scene: Scene) -> None:
    guesser = with_a_guesser(scene)
    with scene.store.reading() as c:
        before = projects.find(c, scene.id).lease_requests
    scene.outlook(guesser)
    view = replica_of(scene).campaign.view
    assert view.requests == before
    assert view.asked_count(guesser.worker) == 100
