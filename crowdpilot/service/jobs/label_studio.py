"""Label Studio job: find what webhooks have missed, open and close tasks, write decisions back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.errors import RequestError
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.label_studio import connection
from crowdpilot.service.label_studio.events import JOB_KIND as JOB_KIND
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import Store, jobs
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections

EVERY_SECONDS = 30.0  # between two synchronisations
AFTER_FAILURE_SECONDS = 300.0
CAUSES = (jobs.REFIT, "completion")  # jobs after which other votes may be wanted


def run_sync(context: JobContext, job: Row) -> dict[str, Any]:
    """Synchronise a project that is connected; what cannot be done is a problem of the connection."""
    with context.store.reading() as c:
        if connections.find(c, job.project) is None:
            return {"items": 0, "votes": 0}

    def read(function: Callable[[Replica, Row], Any]) -> Any:
        return function(*context.replica(job.project))

    try:
        found = connection.sync(context.store, context.settings, job.project, read=read, everything=False)
    except (ValueError, RequestError) as error:
        return {"items": 0, "votes": 0, "why": str(error)}
    return {"items": found.items, "votes": found.votes}


def enqueue_all(store: Store) -> None:
    """Queue a synchronisation of every project that is connected."""
    with store.reading() as c:
        found = connections.list_all(c)
    for project in found:
        with store.writing() as c:
            row = connections.find(c, project)
            is_failing = row is not None and row.state == connections.FAILING
            if not jobs.is_pending(c, project, JOB_KIND):
                jobs.enqueue(c, project, JOB_KIND, after=AFTER_FAILURE_SECONDS if is_failing else 0.0)


def follow_up(c: Connection, job: Row, result: Any) -> None:
    """After a job that is done, in a write transaction.

    One that changes which votes are wanted is followed by a synchronisation; of synchronisations those are
    kept that have found something, as there are many.
    """
    if job.kind in CAUSES and connections.find(c, job.project) is not None:
        jobs.enqueue(c, job.project, JOB_KIND)
    if job.kind == JOB_KIND and not any(result.values()):
        jobs.remove(c, job)
