"""Routes for requesters about HITs on Mechanical Turk; they cost money, so that they need to write."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel

from crowdpilot.service.http.auth import LabelOps, ProjectId, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.requesters.recruiting import mturk_hits
from crowdpilot.service.requesters.recruiting.mturk_hits import BonusIn, ExtensionIn, HitIn, RejectionIn
from crowdpilot.service.store.arrivals import hits
from crowdpilot.service.store.engine import Row

ERRORS = error_schemas(401, 403, 404, 409, 413, 422, 429, 503)
routes = APIRouter(prefix="/api/projects/{id}/hits", tags=["requester"], responses=ERRORS)
HitId = Annotated[str, Path(pattern=r"^[0-9A-Z]{1,64}$")]
AssignmentId = Annotated[str, Path(pattern=r"^[0-9A-Z]{1,64}$")]


class HitOut(BaseModel):
    """A HIT of a project."""

    id: str
    sandbox: bool
    title: str
    reward: str
    assignments: int
    created: float
    expires: float
    preview_url: str


class HitsOut(BaseModel):
    """The HITs of a project, the newest first."""

    hits: list[HitOut]


def _out(row: Row) -> HitOut:
    return HitOut.model_validate(dict(row._mapping))


@routes.get("")
def get_hits(id: ProjectId, store: StoreOf, requester: LabelOps) -> HitsOut:
    """The HITs that were created for a project."""
    with store.reading() as c:
        return HitsOut(hits=[_out(row) for row in hits.list_all(c, id)])


@routes.post("", status_code=201)
def post_hit(id: ProjectId, body: HitIn, store: StoreOf, settings: SettingsOf, requester: Writer) -> HitOut:
    """Create a HIT that shows the project; the same token makes one HIT."""
    return _out(mturk_hits.create(store, settings, id, requester.actor, body))


@routes.post("/{hit}/extend")
def post_extension(id: ProjectId, hit: HitId, body: ExtensionIn, store: StoreOf, requester: Writer) -> HitOut:
    """More assignments of a HIT, or more time."""
    return _out(mturk_hits.extend(store, id, requester.actor, hit, body))


@routes.post("/{hit}/expire")
def post_expiry(id: ProjectId, hit: HitId, store: StoreOf, requester: Writer) -> HitOut:
    """Nobody can take the HIT any more; who has it can hand it in."""
    return _out(mturk_hits.expire(store, id, requester.actor, hit))


@routes.get("/{hit}/assignments")
def get_assignments(id: ProjectId, hit: HitId, store: StoreOf, requester: LabelOps) -> dict[str, Any]:
    """Assignments that wait to be approved or rejected."""
    found = mturk_hits.list_submitted(store, id, hit)
    return {"assignments": [one._asdict() for one in found]}


@routes.post("/{hit}/assignments/{assignment}/approve", status_code=204)
def post_approval(
    id: ProjectId, hit: HitId, assignment: AssignmentId, store: StoreOf, requester: Writer
) -> Response:
    """Approve an assignment: its worker is paid the reward."""
    mturk_hits.approve(store, id, requester.actor, hit, assignment)
    return Response(status_code=204)


@routes.post("/{hit}/assignments/{assignment}/reject", status_code=204)
def post_rejection(
    id: ProjectId, hit: HitId, assignment: AssignmentId, body: RejectionIn, store: StoreOf, requester: Writer
) -> Response:
    """Reject an assignment: its worker is not paid and reads why."""
    mturk_hits.reject(store, id, requester.actor, hit, assignment, body.reason)
    return Response(status_code=204)


@routes.post("/{hit}/assignments/{assignment}/bonus", status_code=204)
def post_bonus(
    id: ProjectId, hit: HitId, assignment: AssignmentId, body: BonusIn, store: StoreOf, requester: Writer
) -> Response:
    """Pay the worker of an assignment more, once for each token."""
    mturk_hits.pay_bonus(store, id, requester.actor, hit, assignment, body)
    return Response(status_code=204)
