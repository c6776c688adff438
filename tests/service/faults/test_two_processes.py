"""Two desks over one database: nothing is lent twice, and no more than is wanted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

from crowdpilot.service.errors import Unavailable
from crowdpilot.service.labelling.lease_and_vote import Desk
from crowdpilot.service.labelling.sessions import Seat
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, migrate, projects, votes, workers
from tests.service.faults.tools import make_project, settings_of

ITEMS, WANTED, WORKERS = 40, 3, 8


def make_desks(url: str, wanted: int = WANTED, lease: float = 900) -> tuple[list[Desk], list[Seat], str]:
    settings = Settings(**settings_of(url))
    migrate(store := Store(url))
    project = make_project(store, ITEMS, wanted, lease)
    seats = []
    with store.writing() as c:
        for n in range(WORKERS):
            row = workers.enter(c, project, "link", f"w{n}", kind="crowd", state=workers.ACTIVE)
            seats.append(Seat(project, row.id, "link", "", time.time() + 900))
    store.close()
    return [Desk(Store(url), settings) for _ in range(2)], seats, project


def close(desks: list[Desk]) -> None:
    for desk in desks:
        desk.close()
        desk.store.close()


def hammer(desk: Desk, seats: list[Seat], lent: list[Any], problems: list[BaseException]) -> None:
    """Ask for items again and again, for all workers in turn, a few more at a time."""

    async def ask(seat: Seat, n: int) -> None:
        with suppress(Unavailable):
            lent.extend((seat.worker, *place[:2]) for place in await desk.next(seat, n))

    async def all_of_them() -> None:
        for n in range(2, 30, 3):
            await asyncio.gather(*(ask(seat, n) for seat in seats))

    try:
        asyncio.run(all_of_them())
    except BaseException as error:
        problems.append(error)


def test_two_processes_never_lend_more_than_is_wanted_nor_one_thing_twice(database_url: str) -> None:
    desks, seats, project = make_desks(database_url)
    lent: list[list[Any]] = [[], []]
    problems: list[BaseException] = []
    threads = [
        threading.Thread(target=hammer, args=(desk, order, mine, problems))
        for desk, order, mine in zip(desks, (seats, seats[::-1]), lent, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with desks[0].store.reading() as c:
        table = [
            (seat.worker, row.item, row.criterion) for seat in seats for row in votes.held(c, seat.worker)
        ]
        asked = projects.find(c, project).asked
    close(desks)
    assert problems == []
    shown = {*lent[0], *lent[1]}  # a worker is shown again what they hold
    assert shown == set(table)
    assert len(table) == len(set(table))
    by_item = Counter(item for _, item, _ in table)
    assert set(by_item.values()) == {WANTED}, "every item is lent as often as it is wanted"
    assert len(by_item) == ITEMS
    assert asked >= 2


def test_each_process_sees_what_the_other_did(database_url: str) -> None:
    (here, there), seats, _ = make_desks(database_url)

    async def story() -> None:
        lent = await here.next(seats[0], 5)
        assert await there.next(seats[0], 5) == lent
        for n, place in enumerate(lent[:3]):
            await there.vote(seats[0], votes.Answer(seats[0].worker, *place[:2], n % 3, 1.0, f"key-{n:05d}"))
        assert await here.next(seats[0], 2) == lent[3:]
        seen = [await desk.look(seats[0].project, lambda m, row: (m.campaign.status(), row.votes))
                for desk in (here, there)]  # fmt: skip
        assert seen[0] == seen[1]
        assert seen[0][0].votes == {"crowd": 3}
        await here.undo(seats[0])
        status = await there.look(seats[0].project, lambda m, row: m.campaign.status())
        assert status.votes == {"crowd": 2}

    asyncio.run(story())
    close([here, there])


def test_what_is_lent_to_somebody_who_vanished_goes_to_others(database_url: str) -> None:
    (here, there), seats, project = make_desks(database_url, wanted=1, lease=1.0)

    async def story() -> None:
        gone = {place.item for place in await here.next(seats[0], ITEMS)}
        assert len(gone) == ITEMS
        assert await there.next(seats[1], ITEMS) == []
        await asyncio.sleep(1.1)
        with there.store.writing() as c:
            votes.expire(c, project, time.time())
        assert {place.item for place in await there.next(seats[1], ITEMS)} == gone

    asyncio.run(story())
    close([here, there])
