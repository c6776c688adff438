"""Two labelling services over one database: nothing is leased twice, and no more than is needed."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import suppress
from typing import Any

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.schemas import VoteIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, clock, leases, migrate, projects
from tests.service.harness.fault_crowd import CLASSES, make_project
from tests.service.harness.service import settings_of
from tests.service.harness.sessions import new_session

ITEMS, WANTED, WORKERS = 40, 3, 8


def make_services(
    url: str, wanted: int = WANTED, lease: float = 900
) -> tuple[list[LabellingService], list[Session], str]:
    settings = Settings(**settings_of(url))
    migrate(store := Store(url))
    project = make_project(store, ITEMS, wanted, lease)
    sessions = []
    with store.writing() as c:
        for n in range(WORKERS):
            sessions.append(new_session(c, project, f"w{n}"))
    store.close()
    return [LabellingService(Store(url), settings) for _ in range(2)], sessions, project


def close(services: list[LabellingService]) -> None:
    for labelling in services:
        labelling.close()
        labelling.store.close()


def hammer(
    labelling: LabellingService, sessions: list[Session], leased: list[Any], problems: list[BaseException]
) -> None:
    """Ask for items again and again, for all workers in turn, a few more at a time."""

    async def ask(session: Session, n: int) -> None:
        with suppress(ServiceUnavailableError):
            numbers = labelling.item_numbers(session.project)
            found = await labelling.lease(session, n)
            leased.extend((session.worker, numbers.find(one.item), one.criterion) for one in found)

    async def all_of_them() -> None:
        for n in range(2, 30, 3):
            await asyncio.gather(*(ask(session, n) for session in sessions))

    try:
        asyncio.run(all_of_them())
    except BaseException as error:
        problems.append(error)


def test_two_processes_never_lease_more_than_needed_nor_one_item_twice(database_url: str) -> None:
    services, sessions, project = make_services(database_url)
    leased: list[list[Any]] = [[], []]
    problems: list[BaseException] = []
    threads = [
        threading.Thread(target=hammer, args=(labelling, order, mine, problems))
        for labelling, order, mine in zip(services, (sessions, sessions[::-1]), leased, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with services[0].store.reading() as c:
        table = [
            (worker, item, criterion)
            for worker, held in leases.held_by(c, [session.worker for session in sessions]).items()
            for item, criterion in held
        ]
        asked = projects.find(c, project).lease_requests
    close(services)
    assert problems == []
    shown = {*leased[0], *leased[1]}  # a worker is shown again what they hold
    assert shown == set(table)
    assert len(table) == len(set(table))
    by_item = Counter(item for _, item, _ in table)
    assert set(by_item.values()) == {WANTED}, "every item is leased as often as needed"
    assert len(by_item) == ITEMS
    assert asked >= 2


def test_each_process_sees_what_the_other_did(database_url: str) -> None:
    (here, there), sessions, _ = make_services(database_url)

    async def story() -> None:
        leased = await here.lease(sessions[0], 5)
        assert await there.lease(sessions[0], 5) == leased
        for n, item in enumerate(leased[:3]):
            vote = VoteIn(item=item.item, label=CLASSES[n % 3], key=f"key-{n:05d}")
            await there.vote(sessions[0], vote)
        assert await here.lease(sessions[0], 2) == leased[3:]
        seen = [await labelling.read(sessions[0].project, lambda m, row: (m.campaign.status(), row.votes))
                for labelling in (here, there)]  # fmt: skip
        assert seen[0] == seen[1]
        assert seen[0][0].votes == {"crowd": 3}
        await here.undo(sessions[0])
        status = await there.read(sessions[0].project, lambda m, row: m.campaign.status())
        assert status.votes == {"crowd": 2}

    asyncio.run(story())
    close([here, there])


def test_expired_leases_go_to_other_workers(database_url: str) -> None:
    (here, there), sessions, project = make_services(database_url, wanted=1, lease=1.0)

    async def story() -> None:
        gone = {leased.item for leased in await here.lease(sessions[0], ITEMS)}
        assert len(gone) == ITEMS
        assert await there.lease(sessions[1], ITEMS) == []
        with there.store.writing() as c:
            leases.expire(c, project, clock.now(c) + 1.1)
        assert {leased.item for leased in await there.lease(sessions[1], ITEMS)} == gone

    asyncio.run(story())
    close([here, there])
