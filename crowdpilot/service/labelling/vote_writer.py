"""Vote writer: group commit of votes, each acknowledged only after the transaction that holds it.

Guarantees: `VoteWriter.write` returns when the answer is committed, and raises if it is not. There is one
answer for each (item, criterion, worker); the same answer sent again with the same key is acknowledged again.
The answers of one project are written by one thread at a time, those of several projects beside each other,
so that one which waits for a lock holds up no other; between processes the database serializes the
transactions of a project.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import InvalidRequestError
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.project_executor import ProjectExecutor
from crowdpilot.service.labelling.waiting_requests import Delivery, Waiting, deliver
from crowdpilot.service.project_campaign import make_limits, refit_due
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.answers.reservations import Limits
from crowdpilot.service.store.answers.writing import Answer, write_answers
from crowdpilot.service.store.engine import Store

MAX_ANSWERS_PER_COMMIT = 256
THREADS = 4  # projects whose answers are written at the same time


class PendingAnswer(NamedTuple):
    """An answer that is to be written, and the coroutine that waits for it."""

    project: str
    answer: Answer
    waiting: Waiting[None]


class VoteWriter:
    """Writes all answers of a process, as many of a project together as have arrived.

    Parameters
    ----------
    store
        The database.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._projects: dict[str, tuple[int, dict[str, Any], Limits]] = {}  # by the number of their settings
        self._lock = threading.Lock()
        self._pending: dict[str, deque[PendingAnswer]] = {}  # by project
        self._executor = ProjectExecutor(THREADS, "vote writer")

    async def write(self, project: str, answer: Answer) -> None:
        """Write an answer; returns after its commit.

        Raises `RequestError` if the answer is refused, and `ServiceUnavailableError` if the database cannot
        be written to.
        """
        pending = PendingAnswer(project, answer, Waiting())
        with self._lock:
            before = self._pending.setdefault(project, deque())
            before.append(pending)
            if len(before) == 1:
                self._executor.submit(project, self._commit_next, project)
        await pending.waiting.future

    def close(self) -> None:
        """Write what has arrived, then end the threads."""
        self._executor.close()

    def _commit_next(self, project: str) -> None:
        """Write the answers of a project that have arrived in one transaction, then acknowledge them."""
        with self._lock:
            pending = self._pending[project]
            own = [pending.popleft() for _ in range(min(len(pending), MAX_ANSWERS_PER_COMMIT))]
            if pending:
                self._executor.submit(project, self._commit_next, project)
            else:
                del self._pending[project]
        try:
            with self.store.writing() as c:
                outcomes: Sequence[Exception | None] = self._write(c, project, [p.answer for p in own])
        except Exception as error:  # every sender must get an answer, whatever happened
            outcomes = [error] * len(own)
        deliver([Delivery(p.waiting, outcome) for p, outcome in zip(own, outcomes, strict=True)])

    def _write(self, c: Connection, project: str, answers: list[Answer]) -> Sequence[Exception | None]:
        """Write answers in a transaction and enqueue a refit if one is due; an error for each refused one."""
        spec, limits = self._description(c, project)
        coded = [_with_code(answer, spec["classes"]) for answer in answers]
        known = [answer for answer in coded if isinstance(answer, Answer)]
        errors, row = write_answers(c, project, known, limits)
        taken = [answer for answer, error in zip(known, errors, strict=True) if error is None]
        workers, items = {answer.worker for answer in taken}, {answer.item for answer in taken}
        changed = trust.review(c, project, spec, workers, items)
        if changed or refit_due(spec, row.votes, row.fitted):
            jobs.enqueue_refit(c, project)
        refused = iter(errors)
        return [next(refused) if isinstance(answer, Answer) else answer for answer in coded]

    def _description(self, c: Connection, project: str) -> tuple[dict[str, Any], Limits]:
        """The description of a project and its limits, which cannot change before the commit."""
        number = projects.lock(c, project)
        if project not in self._projects or self._projects[project][0] != number:
            row = projects.find(c, project)
            self._projects[project] = number, row.spec, make_limits(row)
        return self._projects[project][1:]


def _with_code(answer: Answer, classes: Sequence[str]) -> Answer | InvalidRequestError:
    """The same answer with the number that its class has now; classes may change before the first vote."""
    name, label = answer.label_name, answer.label
    if name is None or label is None or (label < len(classes) and classes[label] == name):
        return answer
    if name not in classes:
        return InvalidRequestError("%(name)s is not a class any more; load the page again", name=repr(name))
    return answer._replace(label=list(classes).index(name))
