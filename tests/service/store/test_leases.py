"""Leases are rows of votes: several at once, extended, expired, leased again; claims count once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.errors import RequestError
from crowdpilot.service.store import Store, leases, migrate, projects, votes
from tests.service.harness.fault_crowd import make_project
from tests.service.harness.sessions import answer_of, new_session, undo, write_answers


class Scene:
    """A project with items 1 to 9 and two workers."""

    def __init__(self, url: str) -> None:
        migrate(store := Store(url))
        self.store, self.project = store, make_project(store, 9, 2, 900)
        with store.writing() as c:
            self.session = new_session(c, self.project, "ann")
            self.ann, self.bob = self.session.worker, new_session(c, self.project, "bob").worker

    def lease(self, new: list[Any], until: float = 1e12) -> None:
        with self.store.writing() as c:
            number = int(projects.next_change(c, self.project).change_number)
            leases.create(c, self.project, new, until, number)

    def held(self) -> dict[int, list[votes.ItemCriterion]]:
        with self.store.reading() as c:
            return leases.held_by(c, [self.ann, self.bob])


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    made = Scene(database_url)
    yield made
    made.store.close()


def test_several_workers_lease_items_at_once(scene: Scene) -> None:
    scene.lease([(scene.ann, [(3, 0), (1, 0)]), (scene.bob, [(1, 0)])])
    assert scene.held() == {scene.ann: [(3, 0), (1, 0)], scene.bob: [(1, 0)]}


def test_a_returned_item_may_be_leased_to_the_same_worker_again(scene: Scene) -> None:
    scene.lease([(scene.ann, [(1, 0), (2, 0)])], until=5.0)
    with scene.store.writing() as c:
        assert leases.have_expired(c, scene.project, 6.0)
        assert leases.expire(c, scene.project, 6.0) == 2
        assert not leases.have_expired(c, scene.project, 6.0)
    assert scene.held() == {}
    scene.lease([(scene.ann, [(2, 0), (5, 0)])])
    assert scene.held() == {scene.ann: [(2, 0), (5, 0)]}


def test_extended_leases_do_not_expire(scene: Scene) -> None:
    scene.lease([(scene.ann, [(1, 0)]), (scene.bob, [(2, 0)])], until=5.0)
    with scene.store.writing() as c:
        leases.extend(c, [scene.ann], 10.0, 900.0)
        assert leases.expire(c, scene.project, 6.0) == 1
    assert scene.held() == {scene.ann: [(1, 0)]}


def test_only_the_first_claim_of_lease_requests_succeeds(scene: Scene) -> None:
    with scene.store.writing() as c:
        assert projects.claim_lease_requests(c, scene.project, 0, 3) is not None
    with scene.store.writing() as c:
        assert projects.claim_lease_requests(c, scene.project, 0) is None
        assert projects.claim_lease_requests(c, scene.project, 3) is not None


def test_only_recent_answers_can_be_undone(scene: Scene) -> None:
    with pytest.raises(RequestError, match="nothing to take back"), scene.store.writing() as c:
        undo(c, scene.session)
    scene.lease([(scene.ann, [(1, 0)])])
    with scene.store.writing() as c:
        assert write_answers(c, scene.project, [answer_of(scene.session, 1, 1)]) == [None]
        assert votes.count_answers(c, scene.ann, scene.session.assignment) == (1, 0)
        assert votes.count_answers(c, scene.ann, scene.session.assignment + 1) == (0, 0)
        assert projects.find(c, scene.project).votes == 1
        assert undo(c, scene.session) == (1, 0)
        assert projects.find(c, scene.project).votes == 0
    assert scene.held() == {scene.ann: [(1, 0)]}
