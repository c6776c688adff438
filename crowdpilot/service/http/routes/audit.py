"""Routes for requesters about the audit of a project: items for an expert, and the bound on the loss."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, RootModel

from crowdpilot.service.http.auth import LabellingOf, LabelOps, ProjectId, Reader, StoreOf, Writer
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.jobs import audit
from crowdpilot.service.schemas import Money, Name, Plain, Strict
from crowdpilot.service.store import projects

routes = APIRouter(prefix="/api/projects/{id}", tags=["analyses"], responses=ERRORS)
ItemName = Annotated[Plain, Field(min_length=1, max_length=500)]


class AuditIn(Strict):
    """How many items to draw; which cost per item would be low enough; confidence level of the bound."""

    items: Annotated[int, Field(ge=1, le=10_000)]
    target: Money | None = None
    level: Annotated[float, Field(gt=0, lt=1)] | None = None


class ExpertLabelsIn(
    RootModel[Annotated[dict[ItemName, Name | dict[Name, Name]], Field(min_length=1, max_length=10_000)]]
):
    """The true classes of items that were drawn, by their names; with criteria perhaps one for each."""


class DrawnItemOut(BaseModel):
    """An item to be checked."""

    item: str
    content: dict[str, Any]


class AuditOut(BaseModel):
    """Items to be checked, and the bound for all items that were decided when the audit began."""

    begun: float
    level: float
    target: float | None
    reached: bool | None
    bound: dict[str, float | int | None]
    estimate: float | None
    answered: int
    errors: int
    waiting: int
    drawn: list[DrawnItemOut]
    changed: int
    note: str


@routes.post("/audit", status_code=201)
async def post_audit(
    id: ProjectId, body: AuditIn, labelling: LabellingOf, store: StoreOf, requester: LabelOps
) -> AuditOut:
    """Draw the next items for an expert to check; the first call begins an audit of the present decisions."""
    pool = await labelling.read(id, audit.read_pool)
    options = body.items, body.level, body.target, requester.actor
    return AuditOut.model_validate(await asyncio.to_thread(audit.draw, store, pool, *options))


@routes.get("/audit")
async def get_audit(id: ProjectId, labelling: LabellingOf, store: StoreOf, requester: Reader) -> AuditOut:
    """Items that are drawn and not answered, and the bound by the answers so far."""
    pool = await labelling.read(id, audit.read_pool)
    return AuditOut.model_validate(await asyncio.to_thread(audit.read_summary, store, pool))


@routes.post("/audit/answers")
async def post_answers(
    id: ProjectId, body: ExpertLabelsIn, labelling: LabellingOf, store: StoreOf, requester: LabelOps
) -> AuditOut:
    """Record the labels of experts for items that were drawn; the bound follows at once."""
    pool = await labelling.read(id, audit.read_pool)
    return AuditOut.model_validate(
        await asyncio.to_thread(audit.answer, store, pool, body.root, requester.actor)
    )


@routes.delete("/audit", status_code=204)
def delete_audit(id: ProjectId, store: StoreOf, requester: Writer) -> None:
    """Delete an audit, so that another can begin with the decisions of then."""
    with store.reading() as c:
        projects.find(c, id)
    audit.remove(store, id, requester.actor)
