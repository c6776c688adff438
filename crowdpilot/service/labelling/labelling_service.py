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

from crowdpilot.service.errors import InvalidRequestError, NotReadyError, translatable
from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.assignment import outlook as outlooks
from crowdpilot.service.labelling.assignment import signs_of_life
from crowdpilot.service.labelling.assignment.outlook import Outlook
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
from crowdpilot.service.store import items, jobs, leases, projects, workers
from crowdpilot.service.store.answers import undoing
from crowdpilot.service.store.answers.writing import Answer
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.engine import Row, Store

__all__ = ["LabellingService", "LeasedItem"]
T = TypeVar("T")
MAX_RECOMPUTE_SECONDS = 0.05  # of acquisition values, while a worker waits for items
ITEMS_PER_REQUEST = 10  # that a worker asks for who does not say how many
MAX_WAIT_SECONDS = 10.0  # of a request for the replica of its project
THREADS = 16  # projects whose replicas are used at the same time
LOADING = translatable("the project is being loaded; try again in a moment")


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
        self._last_signs = signs_of_life.LastSigns()

    def close(self) -> None:
        """Finish what was begun, and end all threads."""
        self._vote_writer.close()
        self._executor.close()

    def class_code(self, project: str, name: str) -> int:
        """The number of a class; `InvalidRequestError` if there is none of this name."""
        if name not in self._class_codes.get(project, ()):  # or the classes have changed before any vote
            with self.store.reading() as c:
                classes = projects.find(c, project).spec["classes"]
            self._class_codes[project] = {label: n for n, label in enumerate(classes)}
        codes = self._class_codes[project]
        if name not in codes:
            raise InvalidRequestError(
                "%(name)s is not a class; there are %(classes)s", name=repr(name), classes=", ".join(codes)
            )
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
            session.nonce, vote.label,
        )  # fmt: skip
        await self._vote_writer.write(session.project, answer)

    async def lease(self, session: Session, n: int, seconds: float = math.inf) -> list[LeasedItem]:
        """Up to `n` items for a worker: those they hold, then new ones, while their votes have a value.

        For so many seconds, or as long as the project says, if that is less. `NotReadyError` if the project
        is not loaded in time.
        """
        waiting = self._lease_queue.add(session, n, seconds)
        self._executor.submit(session.project, self._lease_queue.serve, session.project)
        try:
            leased = await asyncio.wait_for(waiting.future, MAX_WAIT_SECONDS)
        except TimeoutError:
            raise NotReadyError(LOADING) from None
        return [self._shown(session.project, one) for one in leased]

    async def read(
        self, project: str, function: Callable[[Replica, Row], T], max_seconds: float = math.inf
    ) -> T:
        """The result of a function of a project's replica, as it is now, and row; it must not change them.

        `NotReadyError` if the project is not loaded in time; the function may take longer. Values of votes
        are recomputed for at most `max_seconds`, in which workers who want items have to wait.
        """
        ready: Waiting[None] = Waiting()
        submitted = self._executor.submit(project, self._read, project, function, max_seconds, ready)
        result: asyncio.Future[T] = asyncio.wrap_future(submitted)
        either: set[asyncio.Future[Any]] = {result, ready.future}
        await asyncio.wait(either, timeout=MAX_WAIT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not result.done() and not ready.future.done():
            result.cancel()
            raise NotReadyError(LOADING)
        return await result

    def _read(
        self,
        project: str,
        function: Callable[[Replica, Row], T],
        max_seconds: float,
        ready: Waiting[None],
    ) -> T:
        replica, row = self._replicas.catch_up(project, max_seconds)
        deliver([Delivery(ready, None)])
        return function(replica, row)

    async def outlook(self, session: Session, n: int = ITEMS_PER_REQUEST) -> Outlook:
        """Whether there is work now, later or never again for a worker who asks for up to `n` items.

        The project has to be open.
        """
        return await self._outlook(session.project, "", session, n)

    async def outlook_of_newcomer(self, project: str, kind: str) -> Outlook:
        """The same for somebody new of a kind; there is work as long as it is not known."""
        try:
            return await self._outlook(project, kind, None)
        except NotReadyError:
            return Outlook(outlooks.NOW)

    async def _outlook(self, project: str, kind: str, session: Session | None, n: int = 1) -> Outlook:
        def find(replica: Replica, row: Row) -> Outlook:
            with self.store.reading() as c:
                row_of_worker = None if session is None else finishing.find_session(c, session)
                kind_of_worker = kind if row_of_worker is None else row_of_worker.kind
                if row_of_worker is not None and row_of_worker.state == workers.NEW:
                    row_of_worker = None  # whoever passes the quiz
                return outlooks.find_outlook(c, replica, row, kind_of_worker, row_of_worker, n)

        await asyncio.to_thread(self._lease_queue.sweep, project)
        found = await self.read(project, find, MAX_RECOMPUTE_SECONDS)
        if found == Outlook(outlooks.LATER):
            await asyncio.to_thread(self._enqueue_refit, project)  # which tells whether more is needed
        return found

    def _enqueue_refit(self, project: str) -> None:
        """Queue a refit if there are new votes and none is pending; many pages that wait ask for it."""
        with self.store.reading() as c:
            row = projects.find(c, project)
            if row.votes == row.fitted or jobs.is_pending(c, project, jobs.REFIT):
                return
        with self.store.writing() as c:
            jobs.enqueue(c, project, jobs.REFIT)

    # In other threads ------------------------------------------------------------------------

    async def stay(self, session: Session, page: str = "") -> int:
        """A sign of life of a page: what the worker holds lasts on; how many items that are."""
        return await asyncio.to_thread(self._stay, session, page)

    def _stay(self, session: Session, page: str) -> int:
        self._last_signs.note(session.worker)
        with self.store.writing() as c:
            return signs_of_life.stay(c, session, page)

    async def stay_if_due(self, session: Session) -> None:
        """The same, at most once in a while: an answer is a sign of life, too."""
        if self._last_signs.is_due(session.worker):
            await self.stay(session)

    async def leave(self, session: Session, page: str = "") -> None:
        """A page was closed: what the worker holds is returned in a moment, unless it is loaded again."""
        await asyncio.to_thread(self._leave, session, page)

    def _leave(self, session: Session, page: str) -> None:
        with self.store.writing() as c:
            signs_of_life.leave(c, session, page)

    async def undo(self, session: Session, seconds: float = math.inf) -> LeasedItem:
        """Delete the worker's last answer and lease its item to them again, in one transaction."""
        return await asyncio.to_thread(self._undo, session, seconds)

    def _undo(self, session: Session, seconds: float) -> LeasedItem:
        with self.store.writing() as c:
            projects.next_change(c, session.project, change_number=0)  # the row is locked from here on
            worker, project = finishing.find_working(c, session), projects.find(c, session.project)
            lease_seconds = min(seconds, project.spec["lease"])
            key = undoing.undo(c, session.project, worker, make_limits(project), lease_seconds)
            trust.review(c, session.project, project.spec, [session.worker], [key[0]])
            content = items.contents(c, [key[0]])[key[0]]
        return self._shown(session.project, LeasedItem(*key, content))

    async def release(self, session: Session) -> None:
        """Return all items that a worker holds."""
        await asyncio.to_thread(self._release, session)

    def _release(self, session: Session) -> None:
        with self.store.writing() as c:
            finishing.find_session(c, session)
            leases.release(c, session.project, session.worker)

    async def finish(self, session: Session, n: int = ITEMS_PER_REQUEST) -> str:
        """End the work on an assignment; returns its completion code.

        `ConflictError` if the worker has given too few answers and there are items left for them, who asks
        for up to `n` at once.
        """
        work = await asyncio.to_thread(self._work_done, session)
        if work.is_enough:
            return await self.end(session, assignments.DONE)
        found = await self._outlook_if_open(session, n)
        if found == outlooks.NOW:
            raise work.error
        complete = found == outlooks.COMPLETE
        return await self.end(session, assignments.COMPLETE if complete else assignments.DONE)

    async def end(self, session: Session, outcome: str) -> str:
        """The same without a look at what is left, for those who have done what is wanted of them."""
        return await asyncio.to_thread(self._end, session, outcome)

    def _work_done(self, session: Session) -> finishing.Work:
        with self.store.reading() as c:
            return finishing.work_done(c, session)

    async def _outlook_if_open(self, session: Session, n: int) -> str:
        """The outlook of a worker; of a project that is not open there is work later, or never again."""
        state = await asyncio.to_thread(self._project_state, session.project)
        if state != projects.OPEN:
            return outlooks.COMPLETE if state == projects.CLOSED else outlooks.LATER
        return (await self.outlook(session, n)).work

    def _project_state(self, project: str) -> str:
        with self.store.reading() as c:
            return str(projects.find(c, project).state)

    def _end(self, session: Session, outcome: str) -> str:
        with self.store.writing() as c:
            return finishing.finish(c, session, self.settings.secret, outcome)
