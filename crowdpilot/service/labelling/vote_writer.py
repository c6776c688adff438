"""Takings: answers that have come together are written together, and then their senders are told."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.project_campaign import is_due
from crowdpilot.service.store import jobs, projects, votes
from crowdpilot.service.store.engine import Store

MOST = 256  # answers in one transaction


class Taking(NamedTuple):
    """An answer that waits to be written, and who waits for it."""

    project: str
    answer: votes.Answer
    loop: asyncio.AbstractEventLoop
    told: asyncio.Future[None]


class VoteWriter:
    """One thread that writes all answers of a process.

    Parameters
    ----------
    store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._specs: dict[str, dict[str, object]] = {}
        self._waiting: queue.SimpleQueue[Taking | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="takings", daemon=True)
        self._thread.start()

    async def put(self, project: str, answer: votes.Answer) -> None:
        """Return when the answer is safe; raise `RequestError` or `ServiceUnavailableError` if it is not."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[None] = loop.create_future()
        self._waiting.put(Taking(project, answer, loop, told))
        await told

    def close(self) -> None:
        """Write what has come, then end."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch: list[Taking] = [first]
            while len(batch) < MOST:
                try:
                    more = self._waiting.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    self._write(batch)
                    return
                batch.append(more)
            self._write(batch)

    def _write(self, batch: Sequence[Taking]) -> None:
        """Each project in one transaction; who waits is told when it has ended."""
        for project in dict.fromkeys(taking.project for taking in batch):
            mine = [taking for taking in batch if taking.project == project]
            try:
                with self.store.writing() as c:
                    outcomes: Sequence[Exception | None] = self._take(c, project, [t.answer for t in mine])
            except Exception as error:  # whoever waits must be told, whatever it is
                outcomes = [error] * len(mine)
            _tell(mine, outcomes)

    def _take(self, c: Connection, project: str, answers: list[votes.Answer]) -> Sequence[Exception | None]:
        if project not in self._specs:
            self._specs[project] = projects.find(c, project).spec
        refused, row = votes.take(c, project, answers)
        if is_due(self._specs[project], row.votes, row.fitted):
            jobs.enqueue_refit(c, project)
        return refused


def _tell(writer: Sequence[Taking], outcomes: Sequence[Exception | None]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[None], Exception | None]]] = {}
    for taking, outcome in zip(writer, outcomes, strict=True):
        by_loop.setdefault(taking.loop, []).append((taking.told, outcome))
    for loop, told in by_loop.items():
        loop.call_soon_threadsafe(_resolve, told)


def _resolve(told: Sequence[tuple[asyncio.Future[None], Exception | None]]) -> None:
    for future, outcome in told:
        if future.cancelled():
            continue
        if outcome is None:
            future.set_result(None)
        else:
            future.set_exception(outcome)
