"""Answers that come too late to be votes: they count towards the share of their worker, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.labelling.workers.pay import list_pay
from crowdpilot.service.store import Store, items, leases, projects, votes
from tests.service.harness.service import create_project, migrated_store
from tests.service.harness.sessions import answer_of, new_session, undo, write_answers

SPEC = {"name": "x", "classes": ["a", "b"], "costs": {"prices": {"crowd": 0.5}}, "plan": {"per_item": 1}}


class Scene:
    """Items with a place for one vote each; Ann was too late for the first, which Bob has answered."""

    def __init__(self, url: str) -> None:
        self.store: Store = migrated_store(url)
        names = [f"i{n}" for n in range(3)]
        self.project = create_project(self.store, SPEC, [{"name": n, "content": {"text": n}} for n in names])
        with self.store.writing() as c:
            ids = items.ids_by_name(c, self.project, names)
            self.items = [ids[name] for name in names]
            self.ann, self.bob = (new_session(c, self.project, name) for name in ("ann", "bob"))
            self.lease(c, self.ann, self.items[:2])
            leases.release(c, self.project, self.ann.worker)
            self.lease(c, self.bob, self.items[:1])
            assert write_answers(c, self.project, [answer_of(self.bob, self.items[0], 0)]) == [None]

    def lease(self, c: Any, session: Any, some: list[int]) -> None:
        number = int(projects.next_change(c, self.project).change_number)
        leases.create(c, self.project, [(session.worker, [(item, 0) for item in some])], 1e12, number)

    def answer(self, item: int, label: int | None = 1) -> Any:
        with self.store.writing() as c:
            return write_answers(c, self.project, [answer_of(self.ann, self.items[item], label)])[0]

    def counts(self) -> Any:
        with self.store.reading() as c:
            return votes.count_answers(c, self.ann.worker, self.ann.assignment)

    def pay(self) -> dict[int, tuple[int, float]]:
        with self.store.reading() as c:
            return {one.worker: (one.votes, one.amount) for one in list_pay(c, self.project)}


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    made = Scene(database_url)
    yield made
    made.store.close()


def test_a_late_answer_without_a_place_counts_towards_the_share_only(scene: Scene) -> None:
    for _ in range(2):  # also if it is sent again
        refused = scene.answer(0)
        assert refused is not None
        assert refused.status == 409
        assert scene.counts() == (1, 0)
    assert scene.answer(1) is None, "there is room"
    assert scene.counts() == (2, 0)
    assert scene.pay() == {scene.ann.worker: (1, 0.5), scene.bob.worker: (1, 0.5)}
    with scene.store.reading() as c:
        assert projects.find(c, scene.project).votes == 2
        assert [row.worker for row in votes.answers_about(c, scene.items[0])] == [scene.bob.worker]


def test_an_item_that_was_answered_too_late_and_comes_again_counts_once(scene: Scene) -> None:
    scene.answer(0)
    with scene.store.writing() as c:
        undo(c, scene.bob)
        leases.release(c, scene.project, scene.bob.worker)
        scene.lease(c, scene.ann, scene.items[:1])
    assert scene.counts() == (1, 0)
    assert scene.answer(0) is None
    assert scene.counts() == (1, 0)
    assert scene.pay() == {scene.ann.worker: (1, 0.5)}


def test_what_was_neither_labelled_nor_leased_to_a_worker_does_not_count(scene: Scene) -> None:
    assert scene.answer(2).status == 403
    assert scene.counts() == (0, 0)
    assert scene.answer(0, None) is None, "which takes no place"
    assert scene.counts() == (0, 1)
