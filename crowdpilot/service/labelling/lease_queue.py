"""Lendings: workers who ask for items at the same time are served together.

Choosing what is lent needs the mirror of the project, and only one thread touches it. While it serves one
group, the next one gathers: so it reads, writes and commits once for all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from crowdpilot.service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RequestError,
    ServiceUnavailableError,
)
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.store import items, jobs, projects, votes, workers
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

PATIENCE = 8  # how often a lending is thought over
MOST = 32  # workers in one group


class Lent(NamedTuple):
    """What a worker sees of an item: nothing of gold, machine or counts."""

    item: int
    criterion: int
    content: dict[str, Any]


class Wish(NamedTuple):
    """A worker who asks for so many items, and who waits for them."""

    session: Session
    n: int
    loop: asyncio.AbstractEventLoop
    told: asyncio.Future[list[Lent]]


class Choice(NamedTuple):
    """What a worker holds already, and what is lent to them now."""

    held: list[votes.Place]
    new: list[votes.Place]


Outcome = Choice | RequestError


class LeaseQueue:
    """Those who wait for items, and how they get them.

    Parameters
    ----------
    store
        The database.
    mirror
        Gives the mirror of a project as it is now, and its row.
    """

    def __init__(self, store: Store, replica: Callable[[str], tuple[Replica, Record]]) -> None:
        self.store, self._replica = store, replica
        self._waiting: deque[Wish] = deque()
        self._swept: dict[str, float] = {}

    def queue(self, session: Session, n: int) -> asyncio.Future[list[Lent]]:
        """Wait for items; `serve` has to be called once for everybody who waits."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[list[Lent]] = loop.create_future()
        self._waiting.append(Wish(session, n, loop, told))
        return told

    def serve(self) -> None:
        """Serve some of those who wait, if any do; in the thread of the mirrors."""
        group = self._group()
        if not group:
            return
        try:
            outcomes: Sequence[list[Lent] | Exception] = self._serve(group)
        except Exception as error:  # whoever waits must be told, whatever it is
            outcomes = [error] * len(group)
        for wish, outcome in zip(group, outcomes, strict=True):
            wish.loop.call_soon_threadsafe(_resolve, wish.told, outcome)

    def _group(self) -> list[Wish]:
        """Who is served together: workers of one project, each of them once."""
        group: dict[int, Wish] = {}
        later: list[Wish] = []
        while self._waiting and len(group) < MOST:
            wish = self._waiting.popleft()
            first = next(iter(group.values()), wish)
            if wish.session.worker in group or wish.session.project != first.session.project:
                later.append(wish)
            else:
                group[wish.session.worker] = wish
        self._waiting.extendleft(reversed(later))
        return list(group.values())

    def _serve(self, group: list[Wish]) -> list[list[Lent] | Exception]:
        project = group[0].session.project
        self._sweep(project)
        for _ in range(PATIENCE):
            replica, row = self._replica(project)
            lent = False
            outcomes: list[Outcome] = []
            try:
                outcomes = self._choose(group, replica, row)
                lent = self._lend(group, outcomes, replica, row)
            finally:
                if not lent:
                    _release(group, outcomes, replica)
            if lent:
                return self._shown(group, outcomes)
        raise ServiceUnavailableError("many ask at once; try again")

    def _choose(self, group: list[Wish], replica: Replica, project: Record) -> list[Outcome]:
        ids = [wish.session.worker for wish in group]
        with self.store.reading() as c:
            known = workers.some(c, project.id, ids)
            held = votes.held_by(c, ids)
        return [_chosen(wish, held.get(wish.session.worker, []), known, replica, project) for wish in group]

    def _lend(self, group: list[Wish], outcomes: list[Outcome], replica: Replica, project: Record) -> bool:
        """Whether this process was the first to lend, so that what it chose is still right."""
        served = [
            (w.session.worker, o) for w, o in zip(group, outcomes, strict=True) if isinstance(o, Choice)
        ]
        new = [(worker, choice.new) for worker, choice in served if choice.new]
        still = [worker for worker, choice in served if choice.held]
        idle = len(new) < len(served) and project.votes != project.fitted and not replica.campaign.ledger.lent
        if not (new or still or idle):
            return True
        until = time.time() + replica.spec["lease"]
        with self.store.writing() as c:
            clock = projects.claim(c, project.id, project.asked, len(new)) if new else 0
            if clock is None:
                return False
            if still:
                votes.extend(c, still, until)
            if new:
                votes.lend_some(c, project.id, new, until, clock)
            if idle:
                jobs.enqueue(c, project.id, "refit")  # nothing is wanted: learn, and look again
        return True

    def _shown(self, group: list[Wish], outcomes: list[Outcome]) -> list[list[Lent] | Exception]:
        places = [
            outcome if isinstance(outcome, RequestError) else (outcome.held + outcome.new)[: wish.n]
            for wish, outcome in zip(group, outcomes, strict=True)
        ]
        with self.store.reading() as c:
            content = items.contents(c, {i for some in places if isinstance(some, list) for i, _ in some})
        return [
            some if isinstance(some, RequestError) else [Lent(i, q, content[i]) for i, q in some]
            for some in places
        ]

    def _sweep(self, project: str) -> None:
        """What was not answered in time goes to others; looked at once a second."""
        now = time.time()
        if now - self._swept.get(project, 0.0) < 1.0:
            return
        self._swept[project] = now
        with self.store.reading() as c:
            late = votes.late(c, project, now)
        if late:
            with self.store.writing() as c:
                votes.expire(c, project, now)
                jobs.enqueue(c, project, "settle")


def _chosen(
    wish: Wish, held: list[votes.Place], known: dict[int, Record], replica: Replica, project: Record
) -> Outcome:
    worker = known.get(wish.session.worker)
    why = _refusal(project, worker)
    if why is not None or worker is None:
        return why or NotFoundError("there is no such worker in this project")
    n = wish.n - len(held)
    return Choice(held, replica.ask(worker.id, n, worker.kind) if n > 0 else [])


def _release(group: list[Wish], outcomes: list[Outcome], replica: Replica) -> None:
    """What was not lent in the end is free again."""
    for wish, outcome in zip(group, outcomes, strict=False):
        if isinstance(outcome, Choice):
            replica.campaign.release(wish.session.worker, [replica.ask_of(*place) for place in outcome.new])


def _refusal(project: Record, worker: Record | None) -> RequestError | None:
    """Why nothing is lent to a worker, if nothing is."""
    if worker is None or worker.state == workers.ACTIVE:
        closed = f"the project is {project.state}; nothing is lent now"
        return None if project.state == projects.OPEN else ConflictError(closed)
    if worker.state in (workers.BLOCKED, workers.ERASED):
        return ForbiddenError("you cannot work on this project any more")
    return ForbiddenError("agree to the terms and pass the quiz first")


def _resolve(told: asyncio.Future[list[Lent]], outcome: list[Lent] | Exception) -> None:
    if told.cancelled():
        return
    if isinstance(outcome, Exception):
        told.set_exception(outcome)
    else:
        told.set_result(outcome)
