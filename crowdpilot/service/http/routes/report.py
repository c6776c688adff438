"""Route for requesters that gives the report of a project as one HTML file."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response

from crowdpilot.service.http.auth import ProjectId, Reader, StoreOf
from crowdpilot.service.http.responses import report_headers
from crowdpilot.service.http.routes.jobs import IN_PROGRESS, QueuedOut
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.jobs import report_requests
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.schemas import Plain

routes = APIRouter(prefix="/api/projects/{id}", tags=["analyses"], responses=ERRORS)
QUEUED_SCHEMA = QueuedOut.model_json_schema()


@routes.get(
    "/report",
    response_class=HTMLResponse,
    responses={202: {"description": IN_PROGRESS, "content": {"application/json": {"schema": QUEUED_SCHEMA}}}},
)
async def get_report(
    id: ProjectId,
    store: StoreOf,
    requester: Reader,
    criterion: Annotated[Plain, Query(max_length=200)] = "",
    wait: Annotated[float, Query(ge=0, le=30)] = 5.0,
) -> Response:
    """A page about the crowd, the decisions and the hardest items, in one file; it is made on demand."""
    page = await report_requests.wait_for_report(store, id, criterion, max_wait_seconds=wait)
    if page is None:
        queued = QueuedOut(kind=report_requests.JOB_KIND)
        return JSONResponse(queued.model_dump(), 202, {"Retry-After": "1"})
    await asyncio.to_thread(log_export, store, requester.actor, id, "report")
    return HTMLResponse(page, headers=report_headers(page))
