"""Routes for requesters about background jobs: model updates, forecasts, audits and reports."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from crowdpilot.service.http.auth import ProjectId, Reader, StoreOf
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.store import jobs, projects

routes = APIRouter(prefix="/api/projects/{id}", tags=["analyses"], responses=ERRORS)
IN_PROGRESS = "it is being made; ask again in a moment"


class QueuedOut(BaseModel):
    """A job waits to be done."""

    kind: str
    state: str = jobs.QUEUED


class JobOut(BaseModel):
    """A job and its result."""

    id: int
    kind: str
    state: str
    tries: int
    error: str | None
    created: float
    ended: float | None
    result: dict[str, Any] | None


class JobsOut(BaseModel):
    """The last jobs of a project, the newest first."""

    jobs: list[JobOut]


@routes.get("/jobs")
def get_jobs(
    id: ProjectId,
    store: StoreOf,
    requester: Reader,
    n: Annotated[int, Query(ge=1, le=jobs.MAX_ENDED_PER_PROJECT)] = 50,
) -> JobsOut:
    """The last jobs of every kind: whether each succeeded, and its result."""
    with store.reading() as c:
        projects.find(c, id)
        rows = jobs.latest(c, id, n)
    return JobsOut(jobs=[JobOut(**{**row._mapping, "result": _without_page(row.result)}) for row in rows])


def _without_page(result: dict[str, Any] | None) -> dict[str, Any] | None:
    """A result without the page of a report, which is large."""
    return None if result is None else {name: value for name, value in result.items() if name != "html"}
