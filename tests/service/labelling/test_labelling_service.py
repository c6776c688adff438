"""The labelling service leases items whose votes have a value, repeats what is held, and refuses the rest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update

from crowdpilot.service.errors import RequestError
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.schemas import VoteIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, jobs, migrate, projects
from crowdpilot.service.store.tables import votes
from tests.service.harness.fault_crowd import CLASSES, make_project
from tests.service.harness.service import settings_of
from tests.service.harness.sessions import new_session

ITEMS = 30
Story = Callable[[], Awaitable[Any]]


class Scene:
    """A project that wants one vote on each item, and three workers."""

    def __init__(self, url: str) -> None:
        migrate(store := Store(url))
        self.store, self.labelling = store, LabellingService(store, Settings(**settings_of(url)))
        self.project = make_project(store, ITEMS, 1, lease=900)
        self.sessions = [self.session(f"w{n}") for n in range(3)]

    def session(self, name: str, state: str = "active") -> Session:
        with self.store.writing() as c:
            return new_session(c, self.project, name, state=state)

    async def vote(self, session: Session, item: int, label: int | None = 0) -> None:
        said = None if label is None else CLASSES[label]
        await self.labelling.vote(session, VoteIn(item=item, label=said, key=f"key-{item:04d}"))

    def refused(self, story: Awaitable[Any]) -> int:
        async def run() -> int:
            with pytest.raises(RequestError) as caught:
                await story
            return caught.value.status

        return asyncio.run(run())


@pytest.fixture
def scene(database_url: str) -> Iterator[Scene]:
    made = Scene(database_url)
    yield made
    made.labelling.close()
    made.store.close()


def test_concurrent_requests_share_the_items(scene: Scene) -> None:
    async def story() -> None:
        found = await asyncio.gather(*(scene.labelling.lease(session, 20) for session in scene.sessions))
        items = [lent.item for some in found for lent in some]
        assert len(items) == len(set(items)) == ITEMS
        with scene.store.reading() as c:
            assert projects.find(c, scene.project).lease_requests == sum(bool(some) for some in found)

    asyncio.run(story())


def test_two_requests_of_one_worker_at_once_get_the_same_items(scene: Scene) -> None:
    async def story() -> None:
        one, two = await asyncio.gather(*(scene.labelling.lease(scene.sessions[0], 5) for _ in range(2)))
        assert one == two
        assert len(one) == 5

    asyncio.run(story())


def test_more_requests_than_fit_in_one_batch_are_all_served(scene: Scene) -> None:
    sessions = [scene.session(f"more{n}") for n in range(80)]

    async def story() -> None:
        found = await asyncio.gather(*(scene.labelling.lease(session, 1) for session in sessions))
        assert sum(map(len, found)) == ITEMS

    asyncio.run(story())


def test_a_refused_request_does_not_hold_up_the_others_of_its_batch(scene: Scene) -> None:
    new = scene.session("new", state="new")

    async def story() -> None:
        found = await asyncio.gather(
            scene.labelling.lease(new, 3), scene.labelling.lease(scene.sessions[0], 3), return_exceptions=True
        )
        assert isinstance(found[0], RequestError)
        assert found[0].status == 403
        assert isinstance(found[1], list)
        assert len(found[1]) == 3

    asyncio.run(story())


def test_a_paused_project_leases_nothing_and_continues_later(scene: Scene) -> None:
    with scene.store.writing() as c:
        projects.change(c, scene.project, state=projects.PAUSED)
    assert scene.refused(scene.labelling.lease(scene.sessions[0], 3)) == 409
    with scene.store.writing() as c:
        projects.change(c, scene.project, state=projects.OPEN)
    assert len(asyncio.run(scene.labelling.lease(scene.sessions[0], 3))) == 3


def test_an_undone_answer_is_leased_again(scene: Scene) -> None:
    async def story() -> None:
        first, second = await scene.labelling.lease(scene.sessions[0], 2)
        await scene.vote(scene.sessions[0], first.item)
        await scene.vote(scene.sessions[0], second.item)
        assert await scene.labelling.undo(scene.sessions[0]) == second
        assert (await scene.labelling.lease(scene.sessions[0], 1))[0] == second

    asyncio.run(story())


def test_the_answer_just_given_can_be_undone_however_often_the_page_got_more_items(scene: Scene) -> None:
    async def story() -> None:
        session = scene.sessions[0]
        held = await scene.labelling.lease(session, 3)
        for n, one in enumerate(held):
            await scene.labelling.lease(session, 3 + n)  # on the way while the answer is
            await scene.vote(session, one.item)
        assert await scene.labelling.undo(session) == held[-1]

    asyncio.run(story())


def test_the_leases_of_a_worker_who_finishes_go_to_others(scene: Scene) -> None:
    async def story() -> None:
        held = await scene.labelling.lease(scene.sessions[0], ITEMS)
        assert await scene.labelling.lease(scene.sessions[1], ITEMS) == []
        for one in held[:10]:
            await scene.vote(scene.sessions[0], one.item)
        assert len(await scene.labelling.finish(scene.sessions[0])) == 12
        again = await scene.labelling.lease(scene.sessions[1], ITEMS)
        assert {lent.item for lent in again} == {lent.item for lent in held[10:]}

    asyncio.run(story())


def test_there_is_no_code_before_the_first_answer(scene: Scene) -> None:
    assert scene.refused(scene.labelling.finish(scene.sessions[0])) == 409


def test_a_refit_is_enqueued_when_no_vote_has_a_value(scene: Scene) -> None:
    async def story() -> None:
        for lent in await scene.labelling.lease(scene.sessions[0], ITEMS):
            await scene.vote(scene.sessions[0], lent.item)
        assert await scene.labelling.lease(scene.sessions[1], 5) == []

    asyncio.run(story())
    with scene.store.reading() as c:
        assert [job.kind for job in jobs.latest(c, scene.project)] == ["refit"]


@pytest.mark.parametrize("use", ["lease", "stay", "leave"])
def test_who_holds_items_and_who_writes_answers_do_not_wait_for_each_other(scene: Scene, use: str) -> None:
    """Rows in the opposite order would be a deadlock, which PostgreSQL ends with an error."""
    session = scene.sessions[0]
    held = asyncio.run(scene.labelling.lease(session, 10))
    uses = {
        "lease": lambda: scene.labelling.lease(session, len(held)),
        "stay": lambda: scene.labelling.stay(session, "a"),
        "leave": lambda: scene.labelling.leave(session, "a"),
    }
    with ThreadPoolExecutor(1) as thread:
        with scene.store.writing() as c:
            projects.lock(c, scene.project)
            rows = [row.item for row in c.execute(select(votes).order_by(votes.c.position.desc()))]
            c.execute(update(votes).where(votes.c.item == rows[0]).values(seconds=1.0))
            other = thread.submit(lambda: asyncio.run(uses[use]()))
            time.sleep(0.5)  # in which it takes what it can
            for row in rows[1:]:
                c.execute(update(votes).where(votes.c.item == row).values(seconds=1.0))
        other.result(20)
