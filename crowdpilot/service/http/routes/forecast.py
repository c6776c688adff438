"""Routes for requesters about the forecast of a project: its cost, votes and loss in the end."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import ProjectId, Reader, StoreOf, Writer
from crowdpilot.service.http.routes.jobs import IN_PROGRESS, QueuedOut
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.requesters import action_log

routes = APIRouter(prefix="/api/projects/{id}", tags=["analyses"], responses=ERRORS)
JOB_KIND = "forecast"
DONE = "the project is done, so that there is nothing to forecast"


@routes.get("/forecast")
def get_forecast(id: ProjectId, store: StoreOf, requester: Reader) -> dict[str, Any]:
    """The last forecast: loss and error against cost for each item, and totals in the end.

    If there is none, one is queued, and the error says what it waits for. A project that is done has none.
    """
    with store.reading() as c:
        project = projects.find(c, id)
        last = jobs.last_done(c, id, JOB_KIND)
    if project.done:
        raise NotFoundError(DONE)
    result: dict[str, Any] = {} if last is None else last.result or {}
    if "curves" in result:
        return result
    if result.get("votes") != project.votes:
        with store.writing() as c:
            jobs.enqueue(c, id, JOB_KIND)
    raise NotFoundError(result.get("why") or IN_PROGRESS)


@routes.post("/forecast", status_code=202)
def post_forecast(id: ProjectId, store: StoreOf, requester: Writer) -> QueuedOut:
    """Queue a new forecast."""
    with store.writing() as c:
        projects.find(c, id)
        jobs.enqueue(c, id, JOB_KIND)
        action_log.write(c, requester.actor, JOB_KIND, id)
    return QueuedOut(kind=JOB_KIND)
