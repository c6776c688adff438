"""Routes for requesters about workers: quality, pay, approval, blocking, erasure, codes."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from crowdpilot.service import exports, requester_actions
from crowdpilot.service.http.auth import (
    LabellingOf,
    LabelOps,
    ProjectId,
    Reader,
    SettingsOf,
    StoreOf,
    WorkerId,
    Writer,
)
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.labelling.sessions import completion_codes
from crowdpilot.service.labelling.workers import block_preview, identities, pay, worker_quality
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.schemas import Plain, Strict
from crowdpilot.service.store import Store, projects, workers
from crowdpilot.service.store.arrivals import assignments
from crowdpilot.service.store.engine import Row

routes = APIRouter(prefix="/api/projects/{id}", tags=["workers"], responses=ERRORS)
JSON = "application/json"


class WorkerOut(BaseModel):
    """A worker: name on their platform, number of answers, and quality."""

    worker: int
    platform: str
    external: str | None
    kind: str
    state: str
    approved: bool
    counted: bool  # whether their votes count; those of a guest wait until they have passed
    votes: int
    unsure: int
    seconds: float | None
    skill: float | None
    low: float | None
    high: float | None
    gold_votes: int
    gold_right: float | None
    flags: list[str]


class WorkersOut(BaseModel):
    """All workers, in the order in which they came."""

    workers: list[WorkerOut]


class CodesIn(Strict):
    """Completion codes that workers have handed in elsewhere."""

    codes: Annotated[list[Annotated[Plain, Field(max_length=64)]], Field(min_length=1, max_length=1000)]


class WorkerOfCodeOut(BaseModel):
    """A completion code, and the number of the worker who was given it."""

    code: str
    worker: int | None


class CodesOut(BaseModel):
    """Codes in the order in which they were sent."""

    codes: list[WorkerOfCodeOut]


class PayOut(BaseModel):
    """The pay of all who have answered."""

    pay: list[pay.WorkerPay]


class WorkerStateOut(BaseModel):
    """Whether a worker may work, whether their pay is approved, and whether their votes count."""

    worker: int
    state: str
    approved: bool
    counted: bool
    notes: str


class BlockIn(Strict):
    """What happens to the votes of a worker who is blocked."""

    votes: Literal["keep", "leave out"] = "keep"


class NotesIn(Strict):
    """What requesters note about a worker."""

    notes: Annotated[Plain, Field(max_length=5000)]


class ChangedLabelOut(BaseModel):
    """An item whose label would be another one."""

    item: str
    before: str
    after: str


class BlockPreviewOut(BaseModel):
    """What would change without the votes of a worker, with some of the items."""

    votes: int
    items: int
    changed: int
    reopened: int
    examples: list[ChangedLabelOut]
    note: str


@routes.get("/workers")
async def get_workers(id: ProjectId, requester: Reader, labelling: LabellingOf, store: StoreOf) -> WorkersOut:
    """All workers: number of answers, skill with its interval, and flags."""
    seen = await labelling.read(id, worker_quality.read_votes)
    await asyncio.to_thread(log_export, store, requester.actor, id, "workers")
    return await asyncio.to_thread(_workers, store, id, seen)


def _workers(store: Store, id: str, seen: worker_quality.VotesAndPosterior) -> WorkersOut:
    rows = worker_quality.list_workers(store, id, worker_quality.worker_skills(seen))
    return WorkersOut(workers=[WorkerOut.model_validate(worker) for worker in rows])


@routes.get("/pay", response_model=PayOut, responses={200: {"content": {"text/csv": {}}}})
def get_pay(
    request: Request,
    id: ProjectId,
    requester: Reader,
    store: StoreOf,
    format: Annotated[Literal["csv", "json"] | None, Query()] = None,
) -> Any:
    """The pay of each worker, a price for each vote; as CSV or JSON."""
    with store.reading() as c:
        rows = pay.list_pay(c, id)
    log_export(store, requester.actor, id, "pay")
    if (format or ("csv" if "text/csv" in request.headers.get("accept", "") else "json")) == "json":
        return PayOut(pay=rows)
    return attachment(exports.write([pay.to_table(rows)], "csv"), "pay.csv", "text/csv")


@routes.post("/workers/{worker}/approve")
def post_approve(id: ProjectId, worker: WorkerId, store: StoreOf, requester: LabelOps) -> WorkerStateOut:
    """Approve the pay of a worker."""
    return _state(requester_actions.approve(store, id, requester.actor, worker))


@routes.post("/workers/{worker}/block")
def post_block(
    id: ProjectId, worker: WorkerId, store: StoreOf, requester: LabelOps, body: BlockIn | None = None
) -> WorkerStateOut:
    """Block a worker: their leases end, and their votes stay or, with `leave out`, do not count any more."""
    votes = requester_actions.KEEP if body is None else body.votes
    return _state(requester_actions.block(store, id, requester.actor, worker, votes))


@routes.get("/workers/{worker}/block-preview")
async def get_block_preview(
    id: ProjectId, worker: WorkerId, requester: LabelOps, labelling: LabellingOf, store: StoreOf
) -> BlockPreviewOut:
    """What would change if a worker were blocked and their votes left out; `note` if it is not computed."""
    await asyncio.to_thread(_check_worker, store, id, worker)
    copy = await labelling.read(id, block_preview.copy_campaign)
    found = await asyncio.to_thread(block_preview.preview_block, copy, worker)
    examples = [ChangedLabelOut(**changed._asdict()) for changed in found.examples]
    return BlockPreviewOut(**{**found._asdict(), "examples": examples})


def _check_worker(store: Store, id: str, worker: int) -> None:
    with store.reading() as c:
        workers.find(c, id, worker)


@routes.post("/workers/{worker}/unblock")
def post_unblock(id: ProjectId, worker: WorkerId, store: StoreOf, requester: LabelOps) -> WorkerStateOut:
    """Let a blocked worker go on; their votes count by the usual rules again."""
    return _state(requester_actions.unblock(store, id, requester.actor, worker))


@routes.post("/workers/{worker}/notes")
def post_notes(
    id: ProjectId, worker: WorkerId, body: NotesIn, store: StoreOf, requester: LabelOps
) -> WorkerStateOut:
    """Write down what requesters should know of a worker, in place of what was there."""
    return _state(requester_actions.write_notes(store, id, requester.actor, worker, body.notes))


@routes.delete("/workers/{worker}", status_code=204)
def delete_worker(
    id: ProjectId, worker: WorkerId, store: StoreOf, settings: SettingsOf, requester: Writer
) -> Response:
    """Erase the personal data of a worker; their votes stay under a number that leads nowhere."""
    requester_actions.erase(store, settings.secret, id, requester.actor, worker)
    return Response(status_code=204)


@routes.get("/workers/{worker}/data", response_class=Response, responses={200: {"content": {JSON: {}}}})
def get_worker_data(
    id: ProjectId, worker: WorkerId, store: StoreOf, settings: SettingsOf, requester: Writer
) -> Response:
    """All that is stored about a worker, as JSON: identity, consent, assignments, answers, log."""
    return worker_data(store, settings.secret, id, requester.actor, worker)


def worker_data(store: Store, secret: str, id: str, actor: str, worker: int) -> Response:
    """A file with all that is stored about a worker; that it was read is written down."""
    with store.reading() as c:
        found = identities.stored_data(c, secret, id, worker)
    log_export(store, actor, id, "worker", worker=worker)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    return attachment([text.encode()], f"worker-{worker}.json", JSON)


def _state(row: Row) -> WorkerStateOut:
    return WorkerStateOut(
        worker=row.id, state=row.state, approved=row.approved, counted=row.trusted, notes=row.notes or ""
    )


@routes.post("/codes")
def post_codes(
    id: ProjectId, body: CodesIn, store: StoreOf, settings: SettingsOf, requester: LabelOps
) -> CodesOut:
    """The workers who have finished with these completion codes; null where there is none."""
    with store.reading() as c:
        projects.find(c, id)
        finished = assignments.list_finished(c, id)
    owners = {code: row.id for row in finished for code in completion_codes(settings.secret, id, row)}
    return CodesOut(codes=[WorkerOfCodeOut(code=code, worker=owners.get(code)) for code in body.codes])
