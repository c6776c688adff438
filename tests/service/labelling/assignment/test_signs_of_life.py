"""Signs of life: which page of a worker they are of, who may give them, and how they are remembered."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.assignment import presence, signs_of_life
from crowdpilot.service.labelling.assignment.signs_of_life import LastSigns
from crowdpilot.service.store import clock, leases, projects
from crowdpilot.service.store.arrivals import assignments
from tests.service.harness.fault_crowd import make_project
from tests.service.harness.service import migrated_store
from tests.service.harness.sessions import new_session

FIRST, SECOND = "a" * 32, "b" * 32


class Scene:
    """A worker who holds an item, which pages show."""

    def __init__(self, url: str) -> None:
        self.store = migrated_store(url)
        self.project = make_project(self.store, 3, 1, 900)
        with self.store.writing() as c:
            self.session = new_session(c, self.project, "ann")
            number = int(projects.next_change(c, self.project).change_number)
            until = clock.now(c) + presence.STAY_SECONDS
            leases.create(c, self.project, [(self.session.worker, [(1, 0)])], until, number)

    def stay(self, page: str) -> int:
        with self.store.writing() as c:
            return signs_of_life.stay(c, self.session, page)

    def leave(self, page: str) -> None:
        with self.store.writing() as c:
            signs_of_life.leave(c, self.session, page)

    def lasts(self) -> float:
        with self.store.reading() as c:
            return float(leases.last_expiry(c, self.project) or 0.0) - clock.now(c)


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    made = Scene(database_url)
    yield made
    made.store.close()


def test_a_page_that_is_closed_gives_back_what_no_other_page_shows(scene: Scene) -> None:
    assert scene.stay(FIRST) == scene.stay(SECOND) == 1
    scene.leave(FIRST)
    assert scene.lasts() > presence.LEAVE_SECONDS, "the other page is there"
    scene.leave(SECOND)
    assert scene.lasts() <= presence.LEAVE_SECONDS


def test_the_end_of_a_page_that_arrives_after_it_was_loaded_again_changes_nothing(scene: Scene) -> None:
    scene.stay(FIRST)
    scene.stay(SECOND)  # the same page, loaded again
    scene.leave(FIRST)
    assert scene.lasts() > presence.LEAVE_SECONDS


def test_a_page_that_is_closed_at_once_gives_its_items_back(scene: Scene) -> None:
    scene.leave(FIRST)
    assert scene.lasts() <= presence.LEAVE_SECONDS


def test_an_ended_session_neither_extends_nor_shortens_leases(scene: Scene) -> None:
    with scene.store.writing() as c:
        assignments.end_sessions(c, scene.session.worker)
    before = scene.lasts()
    for use in (scene.stay, scene.leave):
        with pytest.raises(AuthenticationError):
            use(FIRST)
    assert scene.lasts() == pytest.approx(before, abs=2.0)


def test_who_has_signed_out_holds_nothing(scene: Scene) -> None:
    with scene.store.writing() as c:
        finishing.sign_out(c, scene.session)
    with scene.store.reading() as c:
        assert leases.held_by(c, [scene.session.worker]) == {}


def test_the_oldest_signs_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs_of_life, "MAX_REMEMBERED_WORKERS", 2)
    signs = LastSigns()
    for worker in (1, 2, 1, 3):
        signs.note(worker)
    assert [signs.is_due(worker) for worker in (1, 2, 3)] == [False, True, False]


def test_many_threads_may_note_signs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs_of_life, "MAX_REMEMBERED_WORKERS", 3)
    signs, failed = LastSigns(), list[BaseException]()

    def note() -> None:
        try:
            for n in range(20_000):
                signs.note(n % 7)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=note) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
