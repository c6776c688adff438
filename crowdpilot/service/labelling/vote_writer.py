"""Vote writer: group commit of votes, each acknowledged only after the transaction that holds it.

Guarantees: `VoteWriter.write` returns when the answer is committed, and raises if it is not. There is one
answer for each (item, criterion, worker); the same answer sent again with the same key is acknowledged again.
One thread per process writes; between processes the database serializes the transactions of a project.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.labelling.waiting_requests import Delivery, Waiting, deliver
from crowdpilot.service.project_campaign import refit_due
from crowdpilot.service.store import jobs, projects, votes
from crowdpilot.service.store.engine import Store

MAX_ANSWERS_PER_COMMIT = 256


class PendingAnswer(NamedTuple):
    """An answer that is to be written, and the coroutine that waits for it."""

    project: str
    answer: votes.Answer
    waiting: Waiting[None]


class VoteWriter:
    """One thread that writes all answers of a process, as many together as have arrived.

    Parameters
    ----------
    store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._specs: dict[str, dict[str, object]] = {}
        self._pending: queue.SimpleQueue[PendingAnswer | None] = queue.SimpleQueue()  # None: stop
        self._thread = threading.Thread(target=self._run, name="vote writer", daemon=True)
        self._thread.start()

    async def write(self, project: str, answer: votes.Answer) -> None:
        """Write an answer; returns after its commit.

        Raises `RequestError` if the answer is refused, and `ServiceUnavailableError` if the database cannot
        be written to.
        """
        waiting: Waiting[None] = Waiting()
        self._pending.put(PendingAnswer(project, answer, waiting))
        await waiting.future

    def close(self) -> None:
        """Write what has arrived, then end the thread."""
        self._pending.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._pending.get()) is not None:
            batch: list[PendingAnswer] = [first]
            while len(batch) < MAX_ANSWERS_PER_COMMIT:
                try:
                    more = self._pending.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    self._commit(batch)
                    return
                batch.append(more)
            self._commit(batch)

    def _commit(self, batch: Sequence[PendingAnswer]) -> None:
        """Write the answers of each project in one transaction, then acknowledge them."""
        for project in dict.fromkeys(pending.project for pending in batch):
            own = [pending for pending in batch if pending.project == project]
            try:
                with self.store.writing() as c:
                    outcomes: Sequence[Exception | None] = self._write(c, project, [p.answer for p in own])
            except Exception as error:  # every sender must get an answer, whatever happened
                outcomes = [error] * len(own)
            deliver([Delivery(p.waiting, outcome) for p, outcome in zip(own, outcomes, strict=True)])

    def _write(self, c: Connection, project: str, answers: list[votes.Answer]) -> Sequence[Exception | None]:
        """Write answers in a transaction and enqueue a refit if one is due; an error for each refused one."""
        if project not in self._specs:
            self._specs[project] = projects.find(c, project).spec
        refused, row = votes.write_answers(c, project, answers)
        if refit_due(self._specs[project], row.votes, row.fitted):
            jobs.enqueue_refit(c, project)
        return refused
