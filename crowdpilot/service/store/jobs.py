"""Queries on jobs: a queue with claims that expire, where one job at a time runs for each project."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, null, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import jobs

QUEUED, RUNNING, DONE, FAILED = "queued", "running", "done", "failed"
MAX_TRIES = 5  # of a job that raises an error
MAX_TRIES_AFTER_DEATH = 20  # of a job whose process dies, which may not be its fault
CLAIM_SECONDS = 15.0  # after which a runner that has not renewed its claim is taken to be dead
MAX_ENDED_PER_PROJECT = 200  # that are stored
FREE_REFIT_SECONDS = 0.2  # that a refit may take without a pause before the next
PAUSE_PER_REFIT_SECOND = 5.0  # seconds of pause for each second more
REFIT = "refit"  # taken before other kinds: workers may be waiting for it
DIED = "the process that ran this job has died"


class JobLostError(Exception):
    """A job was taken from its runner, which had not renewed its claim in time."""


# Queueing: in a write transaction


def enqueue(c: Connection, project: str, kind: str, *, after: float = 0.0, **arguments: Any) -> None:
    """Queue a job, due after so many seconds; one of this kind that is queued already becomes due by then.

    The partial unique index on (project, kind) allows one queued job of a kind.
    """
    now = time.time()
    if _is_queued(c, project, kind):
        later = jobs.c.due > now + after, jobs.c.tries == 0  # a job that has failed keeps its pause
        c.execute(update(jobs).where(*_queued(project, kind), *later).values(due=now + after))
        return
    new = {"project": project, "kind": kind, "state": QUEUED, "arguments": arguments, "due": now + after,
           "created": now}  # fmt: skip
    try:
        with c.begin_nested():
            c.execute(insert(jobs).values(new))
    except IntegrityError:
        if not _is_queued(c, project, kind):  # else another process was faster
            raise


def enqueue_refit(c: Connection, project: str) -> None:
    """Queue a refit; after one that took long there is a pause first.

    Otherwise processes would do nothing but refit and apply model updates while votes come in fast.
    """
    if _is_queued(c, project, REFIT):
        return
    before = last_done(c, project, REFIT)
    excess = 0.0 if before is None else float((before.result or {}).get("seconds", 0.0)) - FREE_REFIT_SECONDS
    pause = 0.0 if before is None else float(before.ended) + PAUSE_PER_REFIT_SECOND * excess - time.time()
    enqueue(c, project, REFIT, after=max(0.0, pause) if excess > 0 else 0.0)


def record_done(c: Connection, project: str, kind: str, result: Any) -> None:
    """Insert a job that was done at once, with its result."""
    now = time.time()
    common = {"project": project, "kind": kind, "arguments": {}, "due": now, "created": now, "tries": 1}
    c.execute(insert(jobs).values({**common, "state": DONE, "result": result, "ended": now}))
    prune(c, project)


# Running: in a write transaction


def claim(c: Connection, runner: str) -> Row | None:
    """Claim the next job that is due, of a project that has none running; None if there is none.

    On PostgreSQL with SKIP LOCKED. The partial unique index on (project) allows one running job.
    """
    now = time.time()
    busy = select(jobs.c.project).where(jobs.c.state == RUNNING)
    due = jobs.c.state == QUEUED, jobs.c.due <= now, jobs.c.project.not_in(busy)
    order = case((jobs.c.kind == REFIT, 0), else_=1), jobs.c.id
    next_ = select(jobs.c.id).where(*due).order_by(*order).limit(1).with_for_update(skip_locked=True)
    row = c.execute(next_).first()
    if row is None:
        return None
    values = {"state": RUNNING, "runner": runner, "claimed_until": now + CLAIM_SECONDS,
              "tries": jobs.c.tries + 1}  # fmt: skip
    try:
        with c.begin_nested():
            return c.execute(update(jobs).where(jobs.c.id == row.id).values(values).returning(*jobs.c)).one()
    except IntegrityError:  # another job of the project was claimed at the same moment
        return None


def renew(c: Connection, job: Row) -> None:
    """Renew the claim of a runner; `JobLostError` if the job is no longer its own."""
    if not _change(c, job, claimed_until=time.time() + CLAIM_SECONDS):
        raise JobLostError(f"job {job.id} was taken from {job.runner}")


def note_progress(c: Connection, job: Row, result: Any) -> None:
    """Write down how far a job is that runs, where its result will be."""
    _change(c, job, result=result)


def finish(c: Connection, job: Row, result: Any) -> None:
    """Mark a job as done, with its result."""
    values = {"state": DONE, "result": result, "error": None, "ended": time.time(), "claimed_until": None}
    if _change(c, job, **values):
        prune(c, job.project)


def remove(c: Connection, job: Row) -> None:
    """Delete a job that has ended, of which nothing is worth to be kept."""
    c.execute(delete(jobs).where(jobs.c.id == job.id))


def fail(c: Connection, job: Row, error: str, max_tries: int = MAX_TRIES) -> None:
    """Queue a job again with exponential backoff, or mark it as failed after `max_tries`."""
    values: dict[str, Any] = {"error": error, "runner": None, "claimed_until": None}
    later = time.time() + min(2.0 ** (job.tries - 1), 60.0)
    try:
        with c.begin_nested():
            if job.tries < max_tries and not _is_queued(c, job.project, job.kind):
                _change(c, job, **values, state=QUEUED, due=later)
                return
    except IntegrityError:  # the same kind is queued at this moment, so that it will be done anyway
        pass
    _change(c, job, **values, state=FAILED, ended=time.time())


def requeue_abandoned(c: Connection, runner: str) -> None:
    """Queue jobs again whose claim has expired, or which a runner of this name had before it died."""
    dead = (jobs.c.claimed_until < time.time()) | (jobs.c.runner == runner)
    abandoned = select(jobs).where(jobs.c.state == RUNNING, dead).with_for_update(skip_locked=True)
    for row in c.execute(abandoned).all():
        fail(c, row, DIED, MAX_TRIES_AFTER_DEATH)


def _change(c: Connection, job: Row, **values: Any) -> bool:
    """Set columns of a job that its runner still holds; whether it does."""
    own = jobs.c.id == job.id, jobs.c.state == RUNNING, jobs.c.runner == job.runner
    return c.execute(update(jobs).where(*own, jobs.c.tries == job.tries).values(values)).rowcount > 0


def _queued(project: str, kind: str) -> tuple[ColumnElement[bool], ...]:
    return jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == QUEUED


def _is_queued(c: Connection, project: str, kind: str) -> bool:
    return c.execute(select(jobs.c.id).where(*_queued(project, kind)).limit(1)).first() is not None


def prune(c: Connection, project: str, keep: int = MAX_ENDED_PER_PROJECT) -> None:
    """Delete old jobs of a project that have ended, except the last result of each kind."""
    ended = jobs.c.project == project, jobs.c.state.in_((DONE, FAILED))
    oldest = select(jobs.c.id).where(*ended).order_by(jobs.c.id.desc()).offset(keep).limit(1)
    found = c.execute(oldest).first()
    if found is not None:
        done = jobs.c.project == project, jobs.c.state == DONE
        last = select(func.max(jobs.c.id)).where(*done).group_by(jobs.c.kind)
        c.execute(delete(jobs).where(*ended, jobs.c.id <= found.id, jobs.c.id.not_in(last)))


def clear_results(c: Connection, project: str, kind: str, before: int) -> None:
    """Remove the results of jobs of a kind with ids below `before`, where only the last one counts."""
    earlier = jobs.c.project == project, jobs.c.kind == kind, jobs.c.id < before, jobs.c.state == DONE
    c.execute(update(jobs).where(*earlier).values(result=null()))


# Reading


def latest(c: Connection, project: str, n: int = 50) -> Sequence[Row]:
    """The last jobs of a project, the newest first."""
    return c.execute(select(jobs).where(jobs.c.project == project).order_by(jobs.c.id.desc()).limit(n)).all()


def recent(c: Connection, project: str, n: int) -> Sequence[Row]:
    """The same without results, which may be large."""
    columns = [column for column in jobs.c if column.name != "result"]
    query = select(*columns).where(jobs.c.project == project)
    return c.execute(query.order_by(jobs.c.id.desc()).limit(n)).all()


def last_done(c: Connection, project: str, kind: str) -> Row | None:
    """The last job of a kind that is done."""
    done = jobs.c.project == project, jobs.c.kind == kind, jobs.c.state == DONE
    return c.execute(select(jobs).where(*done).order_by(jobs.c.id.desc()).limit(1)).first()


def newest(c: Connection, project: str, kind: str) -> Row | None:
    """The last job of a kind, in whatever state."""
    own = jobs.c.project == project, jobs.c.kind == kind
    return c.execute(select(jobs).where(*own).order_by(jobs.c.id.desc()).limit(1)).first()


def is_pending(c: Connection, project: str, kind: str = "") -> bool:
    """Whether a job of this kind, or of any, is queued or running."""
    pending = jobs.c.project == project, jobs.c.state.in_((QUEUED, RUNNING))
    some = (*pending, jobs.c.kind == kind) if kind else pending
    return c.execute(select(jobs.c.id).where(*some).limit(1)).first() is not None


def is_due(c: Connection) -> bool:
    """Whether a queued job is due."""
    due = (jobs.c.state == QUEUED) & (jobs.c.due <= time.time())
    return c.execute(select(jobs.c.id).where(due).limit(1)).first() is not None
