"""Queries on assignments: pieces of work of a worker, each of which ends with a completion code of its own.

A session of a worker names its assignment and the nonce of the worker, which is drawn when they register and
when they sign out: so a session ends on the server, and one of before a restored backup is not that of
somebody else.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, insert, select, update

from crowdpilot.service.errors import (
    AuthenticationError,
    ConflictError,
    ForbiddenError,
    RequestError,
    translatable,
)
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import assignments, workers
from crowdpilot.service.store.workers import BLOCKED, ERASED, NEW

DONE, COMPLETE, FAILED = "done", "complete", "failed"  # outcomes: their share, nothing was left, the quiz
SESSION_ENDED = translatable("the session has ended; open the link to the project again to go on")
_WITH_WORKERS = select(
    workers.c.id, workers.c.kind, workers.c.state, workers.c.guest, workers.c.trusted, workers.c.nonce,
    workers.c.platform, assignments.c.id.label("assignment"), assignments.c.external, assignments.c.finished,
    assignments.c.resumed, assignments.c.outcome,
).select_from(assignments.join(workers, workers.c.id == assignments.c.worker))  # fmt: skip
_BY_ID = _WITH_WORKERS.where(  # made once: it is part of every commit of votes
    assignments.c.id.in_(bindparam("ids", expanding=True)), assignments.c.project == bindparam("project")
)


def find_or_create(c: Connection, project: str, worker: int, external: str) -> Row:
    """The assignment of a worker with this id on their platform, in a write transaction.

    `ForbiddenError` if it belongs to another worker.
    """
    projects.next_change(c, project, change_number=0)  # two arrivals at once are serialized
    named = assignments.c.project == project, assignments.c.external == external
    own = assignments.c.worker == worker
    row = c.execute(select(assignments).where(*named, own)).first()
    if row is not None:
        return row
    if external and c.execute(select(assignments.c.id).where(*named).limit(1)).first() is not None:
        raise ForbiddenError("this assignment belongs to another worker; open your own on the platform")
    new = {"project": project, "worker": worker, "external": external, "started": time.time()}
    return c.execute(insert(assignments).values(new).returning(*assignments.c)).one()


def find_many(c: Connection, project: str, ids: Iterable[int]) -> dict[int, Row]:
    """Those of these assignments that exist, by id, each with its worker; by the primary keys.

    The columns are those of the worker, with `assignment` and the columns of the assignment.
    """
    found = c.execute(_BY_ID, {"ids": list({*ids}), "project": project})
    return {row.assignment: row for row in found}


def session_error(row: Row | None, worker: int, nonce: str) -> RequestError | None:
    """Why a session with this worker and nonce may not work on this assignment, if so."""
    if row is None or (row.id, row.nonce) != (worker, nonce):
        return AuthenticationError(SESSION_ENDED)
    if row.state in (BLOCKED, ERASED):
        return ForbiddenError("you cannot work on this project any more")
    if row.state == NEW:
        return ForbiddenError("agree to the terms and pass the quiz first")
    if row.finished is not None and row.resumed is None:
        return ConflictError("you have finished this work and seen its code; thank you")
    return None


def finish(c: Connection, assignment: int, outcome: str) -> None:
    """An assignment is finished, in a write transaction; the first time and its outcome count."""
    own = assignments.c.id == assignment
    still = own, assignments.c.finished.is_(None)
    c.execute(update(assignments).where(*still).values(finished=time.time(), outcome=outcome))
    c.execute(update(assignments).where(own).values(resumed=None))


def resume(c: Connection, assignment: int) -> None:
    """A worker carries on with an assignment that is finished, in a write transaction; its code stays."""
    ended = assignments.c.id == assignment, assignments.c.finished.is_not(None)
    c.execute(update(assignments).where(*ended).values(resumed=time.time()))


def set_outcome(c: Connection, assignment: int, outcome: str) -> None:
    """Say how an assignment without a completion code ended, in a write transaction."""
    still = assignments.c.id == assignment, assignments.c.finished.is_(None)
    c.execute(update(assignments).where(*still).values(outcome=outcome))


def list_finished(c: Connection, project: str) -> Sequence[Row]:
    """Finished assignments of a project with their workers, in the order in which they began."""
    done = assignments.c.project == project, assignments.c.finished.is_not(None)
    return c.execute(_WITH_WORKERS.where(*done).order_by(assignments.c.id)).all()


def end_sessions(c: Connection, worker: int) -> None:
    """End all sessions of a worker, in a write transaction."""
    c.execute(update(workers).where(workers.c.id == worker).values(nonce=secrets.token_hex(16)))
