"""The desk: lends items to workers and takes their votes.

Votes need no campaign: one thread writes all that have come together in one transaction, and only then
tells their senders. Lending needs one: another thread keeps a mirror of each project. Between processes
a lending counts only if nobody else has lent in the meantime; else it is thought over again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from crowdpilot.service.mirror import Mirror
from crowdpilot.service.refusals import Refused, Unavailable
from crowdpilot.service.seats import Seat, completion_code
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import items, jobs, projects, votes, workers
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.record import Record
from crowdpilot.service.takings import Takings

T = TypeVar("T")
PATIENCE = 8  # how often a lending is thought over


class Lent(NamedTuple):
    """What a worker sees of an item: nothing of gold, machine or counts."""

    item: int
    criterion: int
    content: dict[str, Any]


class Desk:
    """Where workers get items and hand in votes, one for each process.

    Parameters
    ----------
    store
        The database.
    settings
        Of the service.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self._takings = Takings(store)
        self._thinker = ThreadPoolExecutor(1, "mirrors")  # the only one to touch them
        self._mirrors: dict[str, Mirror] = {}
        self._swept: dict[str, float] = {}
        self._labels: dict[str, dict[str, int]] = {}

    def close(self) -> None:
        """Finish what was begun."""
        self._takings.close()
        self._thinker.shutdown()

    def label(self, project: str, name: str) -> int:
        """The number of a class; refused with 422 if there is none."""
        if project not in self._labels:
            with self.store.reading() as c:
                classes = projects.find(c, project).spec["classes"]
            self._labels[project] = {label: n for n, label in enumerate(classes)}
        if name not in self._labels[project]:
            raise Refused(422, f"{name!r} is not a class; there are {', '.join(self._labels[project])}")
        return self._labels[project][name]

    async def vote(self, seat: Seat, answer: votes.Answer) -> None:
        """Take an answer; returns when it is safe in the database."""
        await self._takings.put(seat.project, answer)

    async def next(self, seat: Seat, n: int) -> list[Lent]:
        """Up to `n` items for a worker: those they hold, then new ones; none if nothing is wanted of them."""
        return await self._think(self._next, seat, n)

    async def look(self, project: str, see: Callable[[Mirror, Record], T]) -> T:
        """What somebody sees who looks at the campaign of a project as it is now."""
        return await self._think(self._look, project, see)

    async def _think(self, what: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thinker, what, *given)

    # In the thread of the mirrors ------------------------------------------------------------

    def _mirror(self, project: str) -> tuple[Mirror, Record]:
        try:
            with self.store.reading() as c:
                if project not in self._mirrors:
                    self._mirrors[project] = Mirror(projects.find(c, project))
                return self._mirrors[project], self._mirrors[project].keep_up(c)
        except Unavailable:
            raise
        except Exception:
            self._mirrors.pop(project, None)  # half-read; made anew from the tables next time
            raise

    def _look(self, project: str, see: Callable[[Mirror, Record], T]) -> T:
        return see(*self._mirror(project))

    def _next(self, seat: Seat, n: int) -> list[Lent]:
        self._sweep(seat.project)
        for _ in range(PATIENCE):
            mirror, project = self._mirror(seat.project)
            with self.store.reading() as c:
                worker = workers.find(c, seat.project, seat.worker)
                held = [(row.item, row.criterion) for row in votes.held(c, seat.worker)]
            _check(project, worker)
            new = mirror.campaign.ask(worker.id, n - len(held), kind=worker.kind) if len(held) < n else []
            places = [mirror.place_of(ask) for ask in new]
            lent = False
            try:
                lent = self._lend(seat, mirror, project, places)
            finally:
                if not lent:
                    mirror.campaign.release(worker.id, new)
            if lent:
                return self._shown((held + places)[:n])
        raise Unavailable("many ask at once; try again")

    def _lend(self, seat: Seat, mirror: Mirror, project: Record, places: list[votes.Place]) -> bool:
        """Whether this process was the first to lend, so that what it chose is still right."""
        until = time.time() + mirror.spec["lease"]
        with self.store.writing() as c:
            if not places:
                votes.extend(c, seat.worker, until)
                if project.votes > project.fitted and not mirror.campaign.ledger.lent:
                    jobs.enqueue(c, seat.project, "refit")  # nothing is wanted: learn, and look again
                return True
            clock = projects.claim(c, seat.project, project.asked)
            if clock is not None:
                votes.extend(c, seat.worker, until)
                votes.lend(c, seat.project, seat.worker, places, until, clock)
            return clock is not None

    def _shown(self, places: list[votes.Place]) -> list[Lent]:
        with self.store.reading() as c:
            content = items.contents(c, [item for item, _ in places])
        return [Lent(item, criterion, content[item]) for item, criterion in places]

    def _sweep(self, project: str) -> None:
        """What was not answered in time goes to others; looked at once a second."""
        now = time.time()
        if now - self._swept.get(project, 0.0) >= 1.0:
            self._swept[project] = now
            with self.store.writing() as c:
                votes.expire(c, project, now)

    # Rarer things ----------------------------------------------------------------------------

    async def undo(self, seat: Seat) -> Lent:
        """Take back the worker's last answer; the item is theirs again."""
        return await asyncio.to_thread(self._undo, seat)

    def _undo(self, seat: Seat) -> Lent:
        with self.store.writing() as c:
            project = projects.find(c, seat.project)
            place = votes.undo(c, seat.project, seat.worker, time.time() + project.spec["lease"])
            return Lent(*place, items.contents(c, [place[0]])[place[0]])

    async def finish(self, seat: Seat) -> str:
        """A worker has done enough; what they hold goes to others. Their completion code."""
        return await asyncio.to_thread(self._finish, seat)

    def _finish(self, seat: Seat) -> str:
        with self.store.writing() as c:
            worker = workers.find(c, seat.project, seat.worker)
            if worker.state != workers.ACTIVE or not votes.count_of(c, seat.worker):
                raise Refused(409, "there is no code before the first answer; label an item first")
            votes.give_back(c, seat.project, seat.worker)
            if worker.finished is None:
                workers.put(c, seat.project, seat.worker, finished=time.time())
        return completion_code(self.settings.secret, seat)


def _check(project: Record, worker: Record) -> None:
    if worker.state != workers.ACTIVE:
        blocked = worker.state in (workers.BLOCKED, workers.ERASED)
        why = (
            "you cannot work on this project any more"
            if blocked
            else "agree to the terms and pass the quiz first"
        )
        raise Refused(403, why)
    if project.state != projects.OPEN:
        raise Refused(409, f"the project is {project.state}; nothing is lent now")
