"""Erasure jobs: delete a project, erase personal data after the retention time, purge the database files."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling.workers import identities
from crowdpilot.service.store import counters, jobs, projects
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.erasure import projects as deletion
from crowdpilot.service.store.erasure import workers as stored
from crowdpilot.service.store.requesters import action_log

RETENTION, PURGE = "retention", "purge"  # kinds of jobs
ACTOR = "retention time"  # what the log calls the service when it keeps to the setting
DAY_SECONDS = 86400.0
WORKERS_PER_TRANSACTION = 100


class PurgeError(Exception):
    """Deleted data is still in the write-ahead log, because somebody reads; the job is tried again."""


def delete_project(context: JobContext, job: Row) -> dict[str, Any]:
    """Delete all rows of a project, some in each transaction, and then what is left of them in the files."""
    context.forget(job.project)
    more = True
    while more:
        with context.store.writing() as c:
            more = deletion.delete_part(c, job.project)
    context.store.purge()
    return {}


def erase_workers(context: JobContext, job: Row) -> dict[str, Any]:
    """Erase the personal data of all workers of a project that was closed long enough ago."""
    erased = 0
    with context.store.reading() as c:
        project = projects.find(c, job.project)
    if not _is_over(project):
        return {"erased": 0}
    while rows := _erase_some(context, job.project):
        erased += rows
    with context.store.writing() as c:
        if erased:
            action_log.write(c, ACTOR, "erase workers", job.project, action_log.DATA, workers=erased)
        if project.spec["retention"]["delete_project"]:
            deletion.begin(c, job.project, ACTOR)
        else:
            jobs.enqueue(c, job.project, PURGE)
    return {"erased": erased}


def _erase_some(context: JobContext, project: str) -> int:
    with context.store.writing() as c:
        rows = stored.with_identity(c, project, WORKERS_PER_TRANSACTION)
        for row in rows:
            identities.erase(c, context.settings.secret, project, row.id)
    return len(rows)


def purge(context: JobContext, job: Row) -> dict[str, Any]:
    """Remove deleted data from the files of the database."""
    if not context.store.purge():
        raise PurgeError("somebody reads the database at this moment")
    return {}


def enqueue_due(store: Store) -> None:
    """Queue the erasure in projects whose retention time is over, and deletions that were interrupted.

    Counts of events by network address are deleted at once when they are old.
    """
    with store.writing() as c:
        counters.prune(c)
    with store.reading() as c:
        unfinished = deletion.unfinished(c)
        over = [row.id for row in projects.list_all(c) if _is_over(row) and _has_work(c, row)]
    for project in unfinished:
        with store.writing() as c:
            jobs.enqueue(c, project, deletion.DELETION)
    for project in over:
        with store.writing() as c:
            jobs.enqueue(c, project, RETENTION)


def _is_over(project: Row) -> bool:
    """Whether the retention time of a project is over."""
    days = (project.spec.get("retention") or {}).get("days")
    if days is None or project.closed is None or project.state != projects.CLOSED:
        return False
    return bool(project.closed + days * DAY_SECONDS <= time.time())


def _has_work(c: Connection, project: Row) -> bool:
    is_kept = not project.spec["retention"]["delete_project"]
    return not is_kept or len(stored.with_identity(c, project.id, 1)) > 0
