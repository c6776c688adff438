"""Labelling service: leases items to workers and takes their votes, one for each process.

Two threads do the work, so that a vote never waits for a choice of items:

- The vote writer commits votes in groups and needs no campaign. A vote is acknowledged after its commit.
- The replica thread holds a replica of each project's campaign, catches up with the database and serves
  lease requests in batches. It alone uses the replicas, so they need no locks.

Processes share nothing but the database: a lease counts only if no other process has leased items of the
project in the meantime; otherwise it is chosen again.
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
from crowdpilot.service.labelling.lease_queue import LeasedItem, LeaseQueue
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.sessions import Session, code_to_show
from crowdpilot.service.labelling.vote_writer import VoteWriter
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import items, leases, projects, votes, workers
from crowdpilot.service.store.engine import Row, Store

__all__ = ["LabellingService", "LeasedItem"]
T = TypeVar("T")
MAX_RECOMPUTE_SECONDS = 0.05  # of acquisition values, while a worker waits for items
MAX_REPLICAS = 16  # in memory at once


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
        self._replica_thread = ThreadPoolExecutor(1, "replicas")
        self._replicas: OrderedDict[str, Replica] = OrderedDict()  # the one used last at the end
        self._lease_queue = LeaseQueue(store, lambda project: self._replica(project, MAX_RECOMPUTE_SECONDS))
        self._class_codes: dict[str, dict[str, int]] = {}

    def close(self) -> None:
        """Finish what was begun, and end both threads."""
        self._vote_writer.close()
        self._replica_thread.shutdown()

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

    async def vote(self, session: Session, answer: votes.Answer) -> None:
        """Write an answer; returns after its commit."""
        await self._vote_writer.write(session.project, answer)

    async def lease(self, session: Session, n: int) -> list[LeasedItem]:
        """Up to `n` items for a worker: those they hold, then new ones, while their votes have a value."""
        waiting = self._lease_queue.add(session, n)
        await self._in_replica_thread(self._lease_queue.serve)
        return await waiting.future

    async def read(self, project: str, function: Callable[[Replica, Row], T]) -> T:
        """The result of a function of a project's replica, as it is now, and row; it must not change them."""
        return await self._in_replica_thread(self._read, project, function)

    async def _in_replica_thread(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._replica_thread, function, *args)

    # In the replica thread -------------------------------------------------------------------

    def _replica(self, project: str, max_seconds: float = math.inf) -> tuple[Replica, Row]:
        try:
            with self.store.reading() as c:
                if project not in self._replicas:
                    self._replicas[project] = Replica(projects.find(c, project))
                self._replicas.move_to_end(project)
                while len(self._replicas) > MAX_REPLICAS:
                    self._replicas.popitem(last=False)
                return self._replicas[project], self._replicas[project].catch_up(c, max_seconds)
        except ServiceUnavailableError:
            raise
        except Exception:
            self._replicas.pop(project, None)  # half-changed; built from the tables next time
            raise

    def _read(self, project: str, function: Callable[[Replica, Row], T]) -> T:
        return function(*self._replica(project))

    # In other threads ------------------------------------------------------------------------

    async def undo(self, session: Session) -> LeasedItem:
        """Delete the worker's last answer and lease its item to them again, in one transaction."""
        return await asyncio.to_thread(self._undo, session)

    def _undo(self, session: Session) -> LeasedItem:
        with self.store.writing() as c:
            project = projects.find(c, session.project)
            key = votes.undo(c, session.project, session.worker, time.time() + project.spec["lease"])
            return LeasedItem(*key, items.contents(c, [key[0]])[key[0]])

    async def finish(self, session: Session) -> str:
        """End a worker's leases, in one transaction; returns their completion code."""
        return await asyncio.to_thread(self._finish, session)

    def _finish(self, session: Session) -> str:
        with self.store.writing() as c:
            worker = workers.find(c, session.project, session.worker)
            if worker.state != workers.ACTIVE or not votes.count_answers(c, session.worker):
                raise ConflictError("there is no code before the first answer; label an item first")
            leases.release(c, session.project, session.worker)
            if worker.finished is None:
                workers.change(c, session.project, session.worker, finished=time.time())
            spec = projects.find(c, session.project).spec
        return code_to_show(self.settings.secret, session, spec)
