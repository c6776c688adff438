"""Routes for requesters about how good a project is and will be: forecast, audit, report, jobs."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field, RootModel

from crowdpilot.service import report_requests
from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import LabellingOf, Reader, StoreOf, Writer
from crowdpilot.service.http.error_responses import described
from crowdpilot.service.http.schemas import Money, Name, Plain, Strict
from crowdpilot.service.jobs import audit
from crowdpilot.service.store import jobs, keys, projects
from crowdpilot.service.store.engine import Store

PROBLEMS = described(401, 403, 404, 409, 413, 422, 429, 503)
routes = APIRouter(prefix="/api/projects", tags=["judgement"], responses=PROBLEMS)
Id = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]
ItemName = Annotated[Plain, Field(min_length=1, max_length=500)]
SOON = "it is being made; ask again in a moment"
LOOK = 0.2  # seconds between looks at a report that is being made


class Queued(BaseModel):
    """A job waits to be done."""

    kind: str
    state: str = jobs.QUEUED


QUEUED = Queued.model_json_schema()


class AuditIn(Strict):
    """How many items to draw; which cost per item would be low enough; how often the bound may fail."""

    items: Annotated[int, Field(ge=1, le=10_000)]
    target: Money | None = None
    alpha: Annotated[float, Field(gt=0, lt=1)] | None = None


class Expert(
    RootModel[Annotated[dict[ItemName, Name | dict[Name, Name]], Field(min_length=1, max_length=10_000)]]
):
    """The true classes of items that were drawn, by their names; with criteria perhaps one for each."""


class DrawnOut(BaseModel):
    """An item to be checked."""

    item: str
    content: dict[str, Any]


class AuditOut(BaseModel):
    """What is to be checked, and what was proved about all items that were decided when the audit began."""

    begun: float
    alpha: float
    target: float | None
    reached: bool | None
    bound: dict[str, float | int | None]
    estimate: float | None
    answered: int
    errors: int
    waiting: int
    drawn: list[DrawnOut]
    changed: int
    note: str


class JobOut(BaseModel):
    """A job, and what came of it."""

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


@routes.get("/{id}/forecast")
def get_forecast(id: Id, store: StoreOf, key: Reader) -> dict[str, Any]:
    """The last forecast: loss and error against cost for each item, and totals in the end.

    Without one it is asked for, and the answer says what it waits for.
    """
    with store.reading() as c:
        project = projects.find(c, id)
        last = jobs.last(c, id, "forecast")
    found: dict[str, Any] = {} if last is None else last.result or {}
    if "curves" in found:
        return found
    if found.get("votes") != project.votes:
        with store.writing() as c:
            jobs.enqueue(c, id, "forecast")
    raise NotFoundError(found.get("why") or SOON)


@routes.post("/{id}/forecast", status_code=202)
def post_forecast(id: Id, store: StoreOf, key: Writer) -> Queued:
    """Ask for a forecast."""
    with store.writing() as c:
        projects.find(c, id)
        jobs.enqueue(c, id, "forecast")
        keys.note(c, key.id, "forecast", id)
    return Queued(kind="forecast")


@routes.post("/{id}/audit", status_code=201)
async def post_audit(id: Id, given: AuditIn, labelling: LabellingOf, store: StoreOf, key: Writer) -> AuditOut:
    """Draw the next items for an expert to check; the first call begins an audit of what is decided now."""
    pool = await labelling.look(id, audit.look)
    asked = given.items, given.alpha, given.target, key.id
    return AuditOut.model_validate(await asyncio.to_thread(audit.draw, store, pool, *asked))


@routes.get("/{id}/audit")
async def get_audit(id: Id, labelling: LabellingOf, store: StoreOf, key: Reader) -> AuditOut:
    """What is drawn and not answered, and what the answers prove so far."""
    pool = await labelling.look(id, audit.look)
    return AuditOut.model_validate(await asyncio.to_thread(audit.view, store, pool))


@routes.post("/{id}/audit/answers")
async def post_answers(
    id: Id, given: Expert, labelling: LabellingOf, store: StoreOf, key: Writer
) -> AuditOut:
    """Record what experts say of items that were drawn; the bound follows at once."""
    pool = await labelling.look(id, audit.look)
    return AuditOut.model_validate(await asyncio.to_thread(audit.answer, store, pool, given.root, key.id))


@routes.delete("/{id}/audit", status_code=204)
def delete_audit(id: Id, store: StoreOf, key: Writer) -> None:
    """Forget an audit, so that another can begin with what is decided then."""
    with store.reading() as c:
        projects.find(c, id)
    audit.remove(store, id, key.id)


@routes.get(
    "/{id}/report",
    response_class=HTMLResponse,
    responses={202: {"description": SOON, "content": {"application/json": {"schema": QUEUED}}}},
)
async def get_report(
    id: Id,
    store: StoreOf,
    key: Reader,
    criterion: Annotated[Plain, Query(max_length=200)] = "",
    wait: Annotated[float, Query(ge=0, le=30)] = 5.0,
) -> Response:
    """A page about the crowd, the decisions and the hardest items, in one file; it is made on demand."""
    until = time.monotonic() + wait
    while (page := await asyncio.to_thread(_report, store, id, criterion)) is None:
        if time.monotonic() >= until:
            return JSONResponse(Queued(kind="report").model_dump(), 202, {"Retry-After": "1"})
        await asyncio.sleep(LOOK)
    return HTMLResponse(page)


def _report(store: Store, id: str, criterion: str) -> str | None:
    """The page, if it is made; else it is asked for."""
    with store.reading() as c:
        page = report_requests.latest(c, id, criterion)
        waits = page is not None or jobs.waiting(c, id, report_requests.KIND)
    if not waits:
        with store.writing() as c:
            report_requests.order(c, id, criterion)
    return page


@routes.get("/{id}/jobs")
def get_jobs(
    id: Id, store: StoreOf, key: Reader, n: Annotated[int, Query(ge=1, le=jobs.KEPT)] = 50
) -> JobsOut:
    """The last jobs: what learns, measures, foresees and reports; whether it went well, and its result."""
    with store.reading() as c:
        projects.find(c, id)
        rows = jobs.listed(c, id, n)
    return JobsOut(jobs=[JobOut(**{**row._mapping, "result": _brief(row.result)}) for row in rows])


def _brief(result: dict[str, Any] | None) -> dict[str, Any] | None:
    """A result without the page of a report, which is large."""
    return None if result is None else {name: value for name, value in result.items() if name != "html"}
