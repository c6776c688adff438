"""Comments and flags are one row for an item, a criterion and a worker; flags are open until resolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service.store import Store, leases, migrate, projects
from crowdpilot.service.store.answers import comments
from tests.service.harness.fault_crowd import make_project
from tests.service.harness.sessions import answer_of, new_session, write_answers


class Scene:
    """A project with items 1 to 9 and two workers; Ann holds items 1 and 2 and has answered 1."""

    def __init__(self, url: str) -> None:
        migrate(store := Store(url))
        self.store, self.project = store, make_project(store, 9, 2, 900)
        with store.writing() as c:
            session = new_session(c, self.project, "ann")
            self.ann, self.bob = session.worker, new_session(c, self.project, "bob").worker
            number = int(projects.next_change(c, self.project).change_number)
            leases.create(c, self.project, [(self.ann, [(1, 0), (2, 0)])], 1e12, number)
            write_answers(c, self.project, [answer_of(session, 1, 0)])

    def write(self, item: int, worker: int, text: str = "", *, flagged: bool = False) -> None:
        with self.store.writing() as c:
            comments.write(c, self.project, item, 0, worker, text=text, flagged=flagged)

    def read(self, function: Any, *args: Any, **options: Any) -> Any:
        with self.store.reading() as c:
            return function(c, *args, **options)


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    made = Scene(database_url)
    yield made
    made.store.close()


def test_a_worker_who_writes_again_replaces_what_they_said(scene: Scene) -> None:
    scene.write(1, scene.ann, "Hard to read.")
    scene.write(1, scene.bob, "Twice here.", flagged=True)
    scene.write(1, scene.ann, "Cut off at the end.", flagged=True)
    said = scene.read(comments.about, scene.project, 1)
    assert [(row.worker, row.text) for row in said] == [
        (scene.bob, "Twice here."),
        (scene.ann, "Cut off at the end."),
    ]
    assert scene.read(comments.open_flags, scene.project) == {1: 2}


def test_neither_text_nor_flag_deletes_the_row(scene: Scene) -> None:
    scene.write(1, scene.ann, "Hard to read.", flagged=True)
    scene.write(1, scene.ann)
    assert scene.read(comments.list_all, scene.project) == []


def test_resolved_flags_are_closed_until_the_worker_writes_again(scene: Scene) -> None:
    scene.write(1, scene.ann, flagged=True)
    scene.write(2, scene.ann, "Odd.", flagged=True)
    with scene.store.writing() as c:
        assert comments.resolve(c, scene.project, 1) == 1
        assert comments.resolve(c, "0" * 12, 2) == 0
    assert scene.read(comments.open_flags, scene.project) == {2: 1}
    assert len(scene.read(comments.list_all, scene.project)) == 2
    assert [row.item for row in scene.read(comments.list_all, scene.project, unresolved=True)] == [2]
    scene.write(1, scene.ann, "Still odd.", flagged=True)
    assert scene.read(comments.open_flags, scene.project) == {1: 1, 2: 1}


def test_only_what_a_worker_holds_or_has_answered_may_be_commented(scene: Scene) -> None:
    may = [scene.read(comments.may_write, item, 0, scene.ann) for item in (1, 2, 3)]
    assert may == [True, True, False]
    assert not scene.read(comments.may_write, 1, 1, scene.ann)
    assert not scene.read(comments.may_write, 1, 0, scene.bob)


def test_the_comments_of_a_worker_can_be_deleted(scene: Scene) -> None:
    scene.write(1, scene.ann, "My name is Ann.")
    scene.write(1, scene.bob, "Fine.")
    with scene.store.writing() as c:
        comments.delete_of_worker(c, scene.project, scene.ann)
    assert [row.worker for row in scene.read(comments.list_all, scene.project)] == [scene.bob]
