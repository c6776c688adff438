"""Votes are written together, acknowledged only after commit, and the same request twice is one vote."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event

from crowdpilot.service.errors import RequestError, ServiceUnavailableError
from crowdpilot.service.labelling.vote_writer import VoteWriter
from crowdpilot.service.store import Store, jobs, leases, migrate, projects, votes
from crowdpilot.service.store.answers.writing import Answer
from tests.service.harness.fault_crowd import make_project
from tests.service.harness.sessions import answer_of, new_session


class Scene:
    """A project with a worker who holds its items."""

    def __init__(self, url: str) -> None:
        migrate(store := Store(url))
        self.store, self.writer = store, VoteWriter(store)
        self.project = make_project(store, 100, 3, 900)
        with store.writing() as c:
            self.session = new_session(c, self.project, "w")
            self.other = new_session(c, self.project, "v")
            number = int(projects.next_change(c, self.project).change_number)
            keys = [(n + 1, 0) for n in range(100)]
            leases.create(c, self.project, [(self.session.worker, keys)], 1e12, number)

    def answer(self, item: int = 1, label: int | None = 0, key: str = "key-0001") -> Answer:
        return answer_of(self.session, item, label, key=key)

    def put(self, *answers: Answer) -> list[Exception | None]:
        """All at once; for each why not, if not."""

        async def one(answer: Answer) -> Exception | None:
            try:
                await self.writer.write(self.project, answer)
            except (RequestError, ServiceUnavailableError) as error:
                return error
            return None

        async def all_of_them() -> list[Exception | None]:
            return list(await asyncio.gather(*map(one, answers)))

        return asyncio.run(all_of_them())

    def rows(self) -> list[Any]:
        with self.store.reading() as c:
            return list(votes.list_all(c, self.project))

    def count(self) -> int:
        with self.store.reading() as c:
            return int(projects.find(c, self.project).votes)


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    made = Scene(database_url)
    yield made
    made.writer.close()
    made.store.close()


def test_a_vote_is_acknowledged_only_after_commit(scene: Scene) -> None:
    order: list[str] = []
    event.listen(scene.store.engine, "commit", lambda _: order.append("commit"))

    async def vote() -> None:
        await scene.writer.write(scene.project, scene.answer())
        order.append("acknowledged")

    asyncio.run(vote())
    assert order == ["commit", "acknowledged"]


def test_a_vote_whose_commit_fails_is_not_acknowledged(scene: Scene) -> None:
    def fail(_: Any) -> None:
        raise ServiceUnavailableError("no space")

    event.listen(scene.store.engine, "commit", fail)
    (outcome,) = scene.put(scene.answer())
    event.remove(scene.store.engine, "commit", fail)
    assert isinstance(outcome, ServiceUnavailableError)
    assert scene.rows() == []
    assert scene.put(scene.answer()) == [None]
    assert len(scene.rows()) == scene.count() == 1


def test_the_same_key_twice_is_one_vote_and_one_answer(scene: Scene) -> None:
    assert scene.put(scene.answer()) == [None]
    assert scene.put(scene.answer()) == [None]
    assert scene.put(*[scene.answer(2, key="key-0002")] * 3) == [None] * 3
    assert len(scene.rows()) == scene.count() == 2


def test_another_key_is_refused_even_at_the_same_moment(scene: Scene) -> None:
    answers = [scene.answer(label=n % 3, key=f"key-{n:04d}") for n in range(5)]
    outcomes = scene.put(*answers)
    taken = [n for n, outcome in enumerate(outcomes) if outcome is None]
    assert len(taken) == 1
    assert {o.status for o in outcomes if isinstance(o, RequestError)} == {409}
    (row,) = scene.rows()
    assert (row.label, row.key) == (answers[taken[0]].label, answers[taken[0]].key)
    assert scene.count() == 1


def test_the_same_key_with_another_label_is_not_acknowledged(scene: Scene) -> None:
    assert scene.put(scene.answer(label=0)) == [None]
    (outcome,) = scene.put(scene.answer(label=1))
    assert isinstance(outcome, RequestError)
    assert outcome.status == 409
    assert [row.label for row in scene.rows()] == [0]


def test_a_refused_answer_does_not_affect_the_others_of_its_commit(scene: Scene) -> None:
    good = [scene.answer(n, key=f"key-{n:04d}") for n in range(1, 30)]
    outcomes = scene.put(*good, answer_of(scene.other, 5, 0), scene.answer(10**6))
    assert outcomes[:-2] == [None] * 29
    assert [o.status for o in outcomes[-2:] if isinstance(o, RequestError)] == [403, 403]
    assert len(scene.rows()) == scene.count() == 29


def test_cannot_tell_is_an_answer_but_not_a_vote(scene: Scene) -> None:
    assert scene.put(scene.answer(label=None)) == [None]
    assert scene.put(scene.answer(label=None)) == [None]
    assert scene.rows() == []
    assert scene.count() == 0


def test_a_closed_project_takes_no_votes_but_repeats_acknowledgements(scene: Scene) -> None:
    assert scene.put(scene.answer()) == [None]
    with scene.store.writing() as c:
        projects.change(c, scene.project, state=projects.CLOSED)
    outcomes = scene.put(scene.answer(), scene.answer(2))
    assert outcomes[0] is None
    assert isinstance(outcomes[1], RequestError)


def test_enough_votes_enqueue_one_refit(scene: Scene) -> None:
    scene.put(*[scene.answer(n, key=f"key-{n:04d}") for n in range(1, 60)])
    with scene.store.reading() as c:
        assert [job.kind for job in jobs.latest(c, scene.project)] == ["refit"]


def test_closing_writes_what_has_arrived(scene: Scene) -> None:
    answers = [scene.answer(n, key=f"key-{n:04d}") for n in range(1, 50)]

    async def leave() -> None:
        waiting = [asyncio.ensure_future(scene.writer.write(scene.project, answer)) for answer in answers]
        await asyncio.sleep(0)
        closing = threading.Thread(target=scene.writer.close)
        closing.start()
        await asyncio.gather(*waiting)
        closing.join()

    asyncio.run(leave())
    assert len(scene.rows()) == 49
    scene.writer = VoteWriter(scene.store)
