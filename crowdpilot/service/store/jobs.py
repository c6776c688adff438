"""Jobs: long work that waits in the database for a process to take it, one at a time for each project."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.store.record import Record
from crowdpilot.service.store.tables import jobs

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
TRIES = 5
HOLD = 15.0  # seconds after which a silent runner is taken to be dead


def enqueue(c: Connection, project: str, kind: str, **given: Any) -> None:
    """Ask for a job, unless the same is waiting already."""
    waiting = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == QUEUED
    if c.execute(select(jobs.c.id).where(*waiting)).first() is not None:
        return
    now = time.time()
    new = {"project": project, "kind": kind, "state": QUEUED, "given": given, "due": now, "created": now}
    c.execute(insert(jobs).values(new))


def take(c: Connection, runner: str) -> Record | None:
    """The next job that is due, of a project that has none running; others skip it until commit."""
    now = time.time()
    busy = select(jobs.c.project).where(jobs.c.state == RUNNING)
    due = jobs.c.state == QUEUED, jobs.c.due <= now, jobs.c.project.not_in(busy)
    row = c.execute(
        select(jobs).where(*due).order_by(jobs.c.id).limit(1).with_for_update(skip_locked=True)
    ).first()
    if row is None:
        return None
    mine = update(jobs).where(jobs.c.id == row.id)
    try:
        with c.begin_nested():
            c.execute(mine.values(state=RUNNING, runner=runner, until=now + HOLD, tries=row.tries + 1))
    except IntegrityError:  # another job of the project was taken at the same moment
        return None
    return row


def hold(c: Connection, job: int) -> None:
    """The runner of a job is alive."""
    c.execute(update(jobs).where(jobs.c.id == job).values(until=time.time() + HOLD))


def finish(c: Connection, job: int, result: Any) -> None:
    """A job is done."""
    values = {"state": DONE, "result": result, "error": None, "ended": time.time()}
    c.execute(update(jobs).where(jobs.c.id == job).values(values))


def fail(c: Connection, job: Record, error: str) -> None:
    """A job went wrong: it is tried again later, each time after a longer while, and then no more."""
    if job.tries + 1 < TRIES:
        later = time.time() + 2.0**job.tries
        values: dict[str, Any] = {"state": QUEUED, "due": later, "error": error}
    else:
        values = {"state": FAILED, "error": error, "ended": time.time()}
    _requeue(c, job.id, job.project, job.kind, values)


def revive(c: Connection, runner: str) -> None:
    """Jobs whose runner has died, or which this runner had before it died, wait again."""
    dead = (jobs.c.until < time.time()) | (jobs.c.runner == runner)
    for row in c.execute(select(jobs).where(jobs.c.state == RUNNING, dead)).all():
        fail(c, row, "the process that did this has died")


def _requeue(c: Connection, job: int, project: str, kind: str, values: dict[str, Any]) -> None:
    """Put a job back, or drop it where the same is waiting already."""
    waiting = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == QUEUED
    if values["state"] == QUEUED and c.execute(select(jobs.c.id).where(*waiting)).first() is not None:
        values = {**values, "state": FAILED, "ended": time.time()}
    c.execute(update(jobs).where(jobs.c.id == job).values({**values, "runner": None, "until": None}))


def listed(c: Connection, project: str, n: int = 50) -> Sequence[Record]:
    """The last jobs of a project, the newest first."""
    return c.execute(select(jobs).where(jobs.c.project == project).order_by(jobs.c.id.desc()).limit(n)).all()


def last(c: Connection, project: str, kind: str) -> Record | None:
    """The last job of a kind that is done."""
    mine = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == DONE
    return c.execute(select(jobs).where(*mine).order_by(jobs.c.id.desc()).limit(1)).first()


def waiting(c: Connection, project: str, kind: str) -> bool:
    """Whether a job of this kind is waiting or running."""
    mine = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state.in_((QUEUED, RUNNING))
    return c.execute(select(jobs.c.id).where(*mine).limit(1)).first() is not None
