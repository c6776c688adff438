"""Jobs: long work that waits in the database for a process to take it, one at a time for each project."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, case, delete, func, insert, null, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import jobs

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
TRIES = 5  # of a job that goes wrong
DEATHS = 20  # tries of a job whose process ends under it, which may be nobody's fault
HOLD = 15.0  # seconds after which a silent runner is taken to be dead
KEPT = 200  # ended jobs of a project that are remembered
EASY = 0.2  # seconds that a refit may take without a rest
REST = 5.0  # seconds of rest for each second more
FIRST = "refit"  # workers may be waiting for it
DIED = "the process that did this has died"


class Lost(Exception):
    """A job was taken from its runner, which had been silent for too long."""


def enqueue(c: Connection, project: str, kind: str, *, after: float = 0.0, **given: Any) -> None:
    """Ask for a job, now or after so many seconds; the same that is waiting already may wait no longer."""
    now = time.time()
    if _is_queued(c, project, kind):
        later = jobs.c.due > now + after, jobs.c.tries == 0  # what has failed is not hurried
        mine = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == QUEUED
        c.execute(update(jobs).where(*mine, *later).values(due=now + after))
        return
    new = {
        "project": project,
        "kind": kind,
        "state": QUEUED,
        "given": given,
        "due": now + after,
        "created": now,
    }
    try:
        with c.begin_nested():
            c.execute(insert(jobs).values(new))
    except IntegrityError:
        if not _is_queued(c, project, kind):  # else somebody else was faster, which is as good
            raise


def enqueue_refit(c: Connection, project: str) -> None:
    """Votes have come that a lesson does not know; after one that took long there is a rest first.

    Else processes would do nothing but learn and take lessons over while votes come in fast.
    """
    if _is_queued(c, project, FIRST):
        return
    before = last(c, project, FIRST)
    hard = 0.0 if before is None else float((before.result or {}).get("seconds", 0.0)) - EASY
    over = 0.0 if before is None else float(before.ended) + REST * hard - time.time()
    enqueue(c, project, FIRST, after=max(0.0, over) if hard > 0 else 0.0)


def record(c: Connection, project: str, kind: str, result: Any) -> None:
    """Something was done at once that would else have been a job."""
    now = time.time()
    common = {"project": project, "kind": kind, "given": {}, "due": now, "created": now, "tries": 1}
    c.execute(insert(jobs).values({**common, "state": DONE, "result": result, "ended": now}))
    prune(c, project)


def take(c: Connection, runner: str) -> Record | None:
    """The next job that is due, of a project that has none running; others skip it until commit."""
    now = time.time()
    busy = select(jobs.c.project).where(jobs.c.state == RUNNING)
    due = jobs.c.state == QUEUED, jobs.c.due <= now, jobs.c.project.not_in(busy)
    order = case((jobs.c.kind == FIRST, 0), else_=1), jobs.c.id
    next_ = select(jobs.c.id).where(*due).order_by(*order).limit(1).with_for_update(skip_locked=True)
    row = c.execute(next_).first()
    if row is None:
        return None
    mine = update(jobs).where(jobs.c.id == row.id)
    values = {"state": RUNNING, "runner": runner, "until": now + HOLD, "tries": jobs.c.tries + 1}
    try:
        with c.begin_nested():
            return c.execute(mine.values(values).returning(*jobs.c)).one()
    except IntegrityError:  # another job of the project was taken at the same moment
        return None


def hold(c: Connection, job: Record) -> None:
    """The runner of a job is alive; raises `Lost` if the job is no more its own."""
    if not _change(c, job, until=time.time() + HOLD):
        raise Lost(f"job {job.id} was taken from {job.runner}")


def finish(c: Connection, job: Record, result: Any) -> None:
    """A job is done."""
    values = {"state": DONE, "result": result, "error": None, "ended": time.time(), "until": None}
    if _change(c, job, **values):
        prune(c, job.project)


def fail(c: Connection, job: Record, error: str, tries: int = TRIES) -> None:
    """A job went wrong: it is tried again later, each time after a longer while, and then no more."""
    values: dict[str, Any] = {"error": error, "runner": None, "until": None}
    later = time.time() + min(2.0 ** (job.tries - 1), 60.0)
    try:
        with c.begin_nested():
            if job.tries < tries and not _is_queued(c, job.project, job.kind):
                _change(c, job, **values, state=QUEUED, due=later)
                return
    except IntegrityError:  # the same is asked for at this moment, so that it will be done anyway
        pass
    _change(c, job, **values, state=FAILED, ended=time.time())


def revive(c: Connection, runner: str) -> None:
    """Jobs whose runner has died, or which this runner had before it died, wait again."""
    dead = (jobs.c.until < time.time()) | (jobs.c.runner == runner)
    mine = select(jobs).where(jobs.c.state == RUNNING, dead).with_for_update(skip_locked=True)
    for row in c.execute(mine).all():
        fail(c, row, DIED, DEATHS)


def _change(c: Connection, job: Record, **values: Any) -> bool:
    """Change a job that is still done by its runner; whether it is."""
    mine = jobs.c.id == job.id, jobs.c.state == RUNNING, jobs.c.runner == job.runner
    return c.execute(update(jobs).where(*mine, jobs.c.tries == job.tries).values(values)).rowcount > 0


def _is_queued(c: Connection, project: str, kind: str) -> bool:
    mine = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == QUEUED
    return c.execute(select(jobs.c.id).where(*mine).limit(1)).first() is not None


def prune(c: Connection, project: str, keep: int = KEPT) -> None:
    """Forget old jobs of a project, but not the last result of a kind."""
    ended = jobs.c.project == project, jobs.c.state.in_((DONE, FAILED))
    oldest = select(jobs.c.id).where(*ended).order_by(jobs.c.id.desc()).offset(keep).limit(1)
    found = c.execute(oldest).first()
    if found is not None:
        done = jobs.c.project == project, jobs.c.state == DONE
        last = select(func.max(jobs.c.id)).where(*done).group_by(jobs.c.kind)
        c.execute(delete(jobs).where(*ended, jobs.c.id <= found.id, jobs.c.id.not_in(last)))


def empty(c: Connection, project: str, kind: str, job: int) -> None:
    """Forget the results of earlier jobs of a kind, where only the last one counts."""
    mine = jobs.c.project == project, jobs.c.kind == kind, jobs.c.id < job, jobs.c.state == DONE
    c.execute(update(jobs).where(*mine).values(result=null()))


def listed(c: Connection, project: str, n: int = 50) -> Sequence[Record]:
    """The last jobs of a project, the newest first."""
    return c.execute(select(jobs).where(jobs.c.project == project).order_by(jobs.c.id.desc()).limit(n)).all()


def last(c: Connection, project: str, kind: str) -> Record | None:
    """The last job of a kind that is done."""
    mine = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == DONE
    return c.execute(select(jobs).where(*mine).order_by(jobs.c.id.desc()).limit(1)).first()


def newest(c: Connection, project: str, kind: str) -> Record | None:
    """The last job of a kind, in whatever state."""
    mine = jobs.c.project == project, jobs.c.kind == kind
    return c.execute(select(jobs).where(*mine).order_by(jobs.c.id.desc()).limit(1)).first()


def waiting(c: Connection, project: str, kind: str = "") -> bool:
    """Whether a job of this kind, or of any, is waiting or running."""
    mine = jobs.c.project == project, jobs.c.state.in_((QUEUED, RUNNING))
    some = (*mine, jobs.c.kind == kind) if kind else mine
    return c.execute(select(jobs.c.id).where(*some).limit(1)).first() is not None


def is_due(c: Connection) -> bool:
    """Whether some job may be waiting to be taken."""
    queued = (jobs.c.state == QUEUED) & (jobs.c.due <= time.time())
    return c.execute(select(jobs.c.id).where(queued).limit(1)).first() is not None
