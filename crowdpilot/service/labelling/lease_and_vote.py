"""The desk: lends items to workers and takes their votes.

Votes need no campaign: one thread writes all that have come together in one transaction, and only then
tells their senders. Lending needs one: another thread keeps a mirror of each project, and serves all who
ask at the same time together. Between processes a lending counts only if nobody else has lent in the
meantime; else it is thought over again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from crowdpilot.service.errors import Refused, Unavailable
from crowdpilot.service.labelling.lease_queue import Lendings, Lent
from crowdpilot.service.labelling.replica import Mirror
from crowdpilot.service.labelling.sessions import Seat, code_to_show
from crowdpilot.service.labelling.vote_writer import Takings
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import items, projects, votes, workers
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

__all__ = ["Desk", "Lent"]
T = TypeVar("T")
HURRY = 0.05  # seconds that a worker waits at most for items to be weighed
MIRRORS = 16  # in memory at once


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
        self._mirrors: OrderedDict[str, Mirror] = OrderedDict()  # the one used last at the end
        self._lendings = Lendings(store, lambda project: self._mirror(project, HURRY))
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
        lent = self._lendings.queue(seat, n)
        await self._think(self._lendings.serve)
        return await lent

    async def look(self, project: str, see: Callable[[Mirror, Record], T]) -> T:
        """What somebody sees who looks at the campaign of a project as it is now."""
        return await self._think(self._look, project, see)

    async def _think(self, what: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thinker, what, *given)

    # In the thread of the mirrors ------------------------------------------------------------

    def _mirror(self, project: str, patience: float = math.inf) -> tuple[Mirror, Record]:
        try:
            with self.store.reading() as c:
                if project not in self._mirrors:
                    self._mirrors[project] = Mirror(projects.find(c, project))
                self._mirrors.move_to_end(project)
                while len(self._mirrors) > MIRRORS:
                    self._mirrors.popitem(last=False)
                return self._mirrors[project], self._mirrors[project].keep_up(c, patience)
        except Unavailable:
            raise
        except Exception:
            self._mirrors.pop(project, None)  # half-read; made anew from the tables next time
            raise

    def _look(self, project: str, see: Callable[[Mirror, Record], T]) -> T:
        return see(*self._mirror(project))

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
            spec = projects.find(c, seat.project).spec
        return code_to_show(self.settings.secret, seat, spec)
