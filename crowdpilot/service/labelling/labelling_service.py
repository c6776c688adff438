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

from crowdpilot.service.errors import ConflictError, InvalidRequestError, ServiceUnavailableError
from crowdpilot.service.labelling.lease_queue import LeaseQueue, Lent
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.sessions import Session, code_to_show
from crowdpilot.service.labelling.vote_writer import VoteWriter
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import items, projects, votes, workers
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

__all__ = ["LabellingService", "Lent"]
T = TypeVar("T")
HURRY = 0.05  # seconds that a worker waits at most for items to be weighed
MAX_REPLICAS = 16  # in memory at once


class LabellingService:
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
        self._vote_writer = VoteWriter(store)
        self._thinker = ThreadPoolExecutor(1, "mirrors")  # the only one to touch them
        self._replicas: OrderedDict[str, Replica] = OrderedDict()  # the one used last at the end
        self._lease_queue = LeaseQueue(store, lambda project: self._replica(project, HURRY))
        self._labels: dict[str, dict[str, int]] = {}

    def close(self) -> None:
        """Finish what was begun."""
        self._vote_writer.close()
        self._thinker.shutdown()

    def label(self, project: str, name: str) -> int:
        """The number of a class; refused with 422 if there is none."""
        if project not in self._labels:
            with self.store.reading() as c:
                classes = projects.find(c, project).spec["classes"]
            self._labels[project] = {label: n for n, label in enumerate(classes)}
        if name not in self._labels[project]:
            raise InvalidRequestError(
                f"{name!r} is not a class; there are {', '.join(self._labels[project])}"
            )
        return self._labels[project][name]

    async def vote(self, session: Session, answer: votes.Answer) -> None:
        """Take an answer; returns when it is safe in the database."""
        await self._vote_writer.put(session.project, answer)

    async def next(self, session: Session, n: int) -> list[Lent]:
        """Up to `n` items for a worker: those they hold, then new ones; none if nothing is wanted of them."""
        lent = self._lease_queue.queue(session, n)
        await self._think(self._lease_queue.serve)
        return await lent

    async def look(self, project: str, see: Callable[[Replica, Record], T]) -> T:
        """What somebody sees who looks at the campaign of a project as it is now."""
        return await self._think(self._look, project, see)

    async def _think(self, what: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thinker, what, *given)

    # In the thread of the mirrors ------------------------------------------------------------

    def _replica(self, project: str, patience: float = math.inf) -> tuple[Replica, Record]:
        try:
            with self.store.reading() as c:
                if project not in self._replicas:
                    self._replicas[project] = Replica(projects.find(c, project))
                self._replicas.move_to_end(project)
                while len(self._replicas) > MAX_REPLICAS:
                    self._replicas.popitem(last=False)
                return self._replicas[project], self._replicas[project].keep_up(c, patience)
        except ServiceUnavailableError:
            raise
        except Exception:
            self._replicas.pop(project, None)  # half-read; made anew from the tables next time
            raise

    def _look(self, project: str, see: Callable[[Replica, Record], T]) -> T:
        return see(*self._replica(project))

    # Rarer things ----------------------------------------------------------------------------

    async def undo(self, session: Session) -> Lent:
        """Take back the worker's last answer; the item is theirs again."""
        return await asyncio.to_thread(self._undo, session)

    def _undo(self, session: Session) -> Lent:
        with self.store.writing() as c:
            project = projects.find(c, session.project)
            place = votes.undo(c, session.project, session.worker, time.time() + project.spec["lease"])
            return Lent(*place, items.contents(c, [place[0]])[place[0]])

    async def finish(self, session: Session) -> str:
        """A worker has done enough; what they hold goes to others. Their completion code."""
        return await asyncio.to_thread(self._finish, session)

    def _finish(self, session: Session) -> str:
        with self.store.writing() as c:
            worker = workers.find(c, session.project, session.worker)
            if worker.state != workers.ACTIVE or not votes.count_of(c, session.worker):
                raise ConflictError("there is no code before the first answer; label an item first")
            votes.give_back(c, session.project, session.worker)
            if worker.finished is None:
                workers.put(c, session.project, session.worker, finished=time.time())
            spec = projects.find(c, session.project).spec
        return code_to_show(self.settings.secret, session, spec)
