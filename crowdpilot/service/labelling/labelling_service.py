"""Labelling service: leases items to workers and takes their votes, one for each process.

Two groups of threads do the work, so that a vote never waits for a choice of items:

- The vote writer commits votes in groups and needs no campaign. A vote is acknowledged after its commit.
- The replica threads hold a replica of each project's campaign, catch up with the database and serve lease
  requests in batches. Each replica is used by one thread at a time, so it needs no locks.

In both groups a project is served by one thread at a time and by another one than any other project: what one
project has to do or to wait for holds up no other.

Processes share nothing but the database: a lease counts only if no other process has leased items of the
project in the meantime; otherwise it is chosen again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any, TypeVar

from crowdpilot.service.errors import ConflictError, InvalidRequestError, NotReadyError
from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.item_numbers import ItemNumbers
from crowdpilot.service.labelling.lease_queue import LeasedItem, LeaseQueue
from crowdpilot.service.labelling.project_executor import ProjectExecutor
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.replicas import Replicas
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.labelling.vote_writer import VoteWriter
from crowdpilot.service.labelling.waiting_requests import Delivery, Waiting, deliver
from crowdpilot.service.project_campaign import make_limits
from crowdpilot.service.schemas import VoteIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import items, leases, projects
from crowdpilot.service.store.answers import undoing
from crowdpilot.service.store.answers.writing import Answer
from crowdpilot.service.store.engine import Row, Store

__all__ = ["LabellingService", "LeasedItem"]
T = TypeVar("T")
MAX_RECOMPUTE_SECONDS = 0.05  # of acquisition values, while a worker waits for items
MAX_WAIT_SECONDS = 10.0  # of a request for the replica of its project
THREADS = 16  # projects whose replicas are used at the same time
LOADING = "the project is being loaded; try again in a moment"


class LabellingService:
    """Leases, votes, and what may be read of a campaign as it is now.

    Parameters
    ----------
    store
        The database.
    settings
        Of the service.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._vote_writer = VoteWriter(store)
        self._executor = ProjectExecutor(THREADS, "replica")
        self._replicas = Replicas(store)
        self._lease_queue = LeaseQueue(
            store, lambda project: self._replicas.catch_up(project, MAX_RECOMPUTE_SECONDS)
        )
        self._class_codes: dict[str, dict[str, int]] = {}
        self._numbers: dict[str, ItemNumbers] = {}

    def close(self) -> None:
        """Finish what was begun, and end all threads."""
        self._vote_writer.close()
        self._executor.close()

    def class_code(self, project: str, name: str) -> int:
        """The number of a class; `InvalidRequestError` if there is none of this name."""
        if project not in self._class_codes:
            with self.store.reading() as c:
                classes = projects.find(c, project).spec["classes"]
            self._class_codes[project] = {label: n for n, label in enumerate(classes)}
        codes = self._class_codes[project]
        if name not in codes:
            raise InvalidRequestError(f"{name!r} is not a class; there are {', '.join(codes)}")
        return codes[name]

    def item_numbers(self, project: str) -> ItemNumbers:
        """The numbers of items as workers see them."""
        if project not in self._numbers:
            self._numbers[project] = ItemNumbers(self.settings.secret, project)
        return self._numbers[project]

    def _shown(self, project: str, leased: LeasedItem) -> LeasedItem:
        return leased._replace(item=self.item_numbers(project).show(leased.item))

    async def vote(self, session: Session, vote: VoteIn) -> None:
        """Write an answer about an item, by the number that the worker saw; returns after its commit."""
        label = None if vote.label is None else self.class_code(session.project, vote.label)
        item = self.item_numbers(session.project).find(vote.item)
        answer = Answer(
            session.worker, item, vote.criterion, label, vote.seconds, vote.key, session.assignment,
            session.nonce,
        )  # fmt: skip
        await self._vote_writer.write(session.project, answer)

    async def lease(self, session: Session, n: int) -> list[LeasedItem]:
        """Up to `n` items for a worker: those they hold, then new ones, while their votes have a value.

        `NotReadyError` if the project is not loaded in time.
        """
        waiting = self._lease_queue.add(session, n)
        self._executor.submit(session.project, self._lease_queue.serve, session.project)
        try:
            leased = await asyncio.wait_for(waiting.future, MAX_WAIT_SECONDS)
        except TimeoutError:
            raise NotReadyError(LOADING) from None
        return [self._shown(session.project, one) for one in leased]

    async def read(self, project: str, function: Callable[[Replica, Row], T]) -> T:
        """The result of a function of a project's replica, as it is now, and row; it must not change them.

        `NotReadyError` if the project is not loaded in time; the function may take longer.
        """
        ready: Waiting[None] = Waiting()
        submitted = self._executor.submit(project, self._read, project, function, ready)
        result: asyncio.Future[T] = asyncio.wrap_future(submitted)
        either: set[asyncio.Future[Any]] = {result, ready.future}
        await asyncio.wait(either, timeout=MAX_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not result.done() and not ready.future.done():
            result.cancel()
            raise NotReadyError(LOADING)
        return await result

    def _read(self, project: str, function: Callable[[Replica, Row], T], ready: Waiting[None]) -> T:
        replica, row = self._replicas.catch_up(project, math.inf)
        deliver([Delivery(ready, None)])
        return function(replica, row)

    # In other threads ------------------------------------------------------------------------

    async def undo(self, session: Session) -> LeasedItem:
        """Delete the worker's last answer and lease its item to them again, in one transaction."""
        return await asyncio.to_thread(self._undo, session)

    def _undo(self, session: Session) -> LeasedItem:
        with self.store.writing() as c:
            projects.next_change(c, session.project, change_number=0)  # the row is locked from here on
            worker, spec = finishing.find_working(c, session), projects.find(c, session.project).spec
            key = undoing.undo(c, session.project, worker, make_limits(spec), spec["lease"])
            trust.review(c, session.project, spec, [session.worker], [key[0]])
            content = items.contents(c, [key[0]])[key[0]]
        return self._shown(session.project, LeasedItem(*key, content))

    async def release(self, session: Session) -> None:
        """Return all items that a worker holds."""
        await asyncio.to_thread(self._release, session)

    def _release(self, session: Session) -> None:
        with self.store.writing() as c:
            finishing.find_session(c, session)
            leases.release(c, session.project, session.worker)

    async def finish(self, session: Session) -> str:
        """End the work on an assignment; returns its completion code.

        `ConflictError` if the worker has given too few answers and there are items left for them.
        """
        work = await asyncio.to_thread(self._work_done, session)
        if not work.is_enough and await self._has_more(session):
            raise ConflictError(work.message)
        return await asyncio.to_thread(self._finish, session)

    def _work_done(self, session: Session) -> finishing.Work:
        with self.store.reading() as c:
            return finishing.work_done(c, session)

    async def _has_more(self, session: Session) -> bool:
        """Whether there is an item that a worker can answer now; a project that is not open has none."""
        try:
            return bool(await self.lease(session, 1))
        except ConflictError:
            return False

    def _finish(self, session: Session) -> str:
        with self.store.writing() as c:
            return finishing.finish(c, session, self.settings.secret)
