"""Routes for requesters about workers: how they do, what they earned, who may go on, and forgetting them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from crowdpilot.service import exports
from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.http.auth import LabellingOf, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.routes.exports import attached
from crowdpilot.service.http.routes.projects import PROBLEMS, Id
from crowdpilot.service.http.schemas import Kind, Plain, Strict
from crowdpilot.service.labelling import pay, worker_quality
from crowdpilot.service.labelling.sessions import Session, completion_code
from crowdpilot.service.platforms import invitation_links
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import same
from crowdpilot.service.store import Store, keys, projects, votes, workers
from crowdpilot.service.store import worker_votes as store_people
from crowdpilot.service.store.row import Record

routes = APIRouter(prefix="/api/projects/{id}", tags=["people"], responses=PROBLEMS)
Number = Annotated[int, Path(ge=1, lt=2**63)]


class WorkerOut(BaseModel):
    """A worker: who they are on their platform, what they did, and how well."""

    worker: int
    platform: str
    external: str | None
    kind: str
    state: str
    approved: bool
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


class CodeOut(BaseModel):
    """A completion code, and the number of the worker who was given it."""

    code: str
    worker: int | None


class CodesOut(BaseModel):
    """Codes in the order in which they were sent."""

    codes: list[CodeOut]


class DueOut(BaseModel):
    """What is due to a worker."""

    worker: int
    platform: str
    external: str | None
    kind: str
    votes: int
    unsure: int
    amount: float
    approved: bool


class PayOut(BaseModel):
    """What is due to all who have answered."""

    pay: list[DueOut]


class StandingOut(BaseModel):
    """Where a worker stands: whether they may work, and whether their pay is approved."""

    worker: int
    state: str
    approved: bool


class InvitationIn(Strict):
    """Whom an invitation is for: anybody, or somebody by name; and when it ends, in seconds since 1970."""

    kind: Kind | None = None
    worker: Annotated[Plain, Field(max_length=invitation_links.LONGEST_WORKER)] = ""
    expires: Annotated[float, Field(ge=0, le=1e12)] | None = None


class InvitationOut(BaseModel):
    """A link to the project."""

    link: str


@routes.get("/workers")
async def get_workers(id: Id, key: Reader, labelling: LabellingOf, store: StoreOf) -> WorkersOut:
    """All workers: what they did, how often they are right, and what is odd about them."""
    seen = await labelling.look(id, worker_quality.look)
    return await asyncio.to_thread(_workers, store, id, seen)


def _workers(store: Store, id: str, seen: worker_quality.Seen) -> WorkersOut:
    found = worker_quality.listed(store, id, worker_quality.judge(seen))
    return WorkersOut(workers=[WorkerOut.model_validate(worker) for worker in found])


@routes.get("/pay", response_model=PayOut, responses={200: {"content": {"text/csv": {}}}})
def get_pay(
    request: Request,
    id: Id,
    key: Reader,
    store: StoreOf,
    format: Annotated[Literal["csv", "json"] | None, Query()] = None,
) -> Any:
    """What is due to each worker: a price for each vote; as CSV or JSON."""
    with store.reading() as c:
        dues = pay.list_pay(c, id)
    if (format or ("csv" if "text/csv" in request.headers.get("accept", "") else "json")) == "json":
        return PayOut(pay=[DueOut.model_validate(due._asdict()) for due in dues])
    return attached(exports.write([pay.to_table(dues)], "csv"), "pay", "csv")


@routes.post("/workers/{worker}/approve")
def post_approve(id: Id, worker: Number, store: StoreOf, key: Writer) -> StandingOut:
    """The pay of a worker is approved."""
    with store.writing() as c:
        workers.find(c, id, worker)
        workers.put(c, id, worker, approved=True)
        return _standing(c, id, key, worker, "approve")


@routes.post("/workers/{worker}/block")
def post_block(id: Id, worker: Number, store: StoreOf, key: Writer) -> StandingOut:
    """A worker may go on no more: what is lent to them goes to others, what they voted stays."""
    with store.writing() as c:
        _check_known(workers.find(c, id, worker))
        workers.bar(c, id, worker, workers.BLOCKED)
        return _standing(c, id, key, worker, "block")


@routes.post("/workers/{worker}/unblock")
def post_unblock(id: Id, worker: Number, store: StoreOf, key: Writer) -> StandingOut:
    """A worker may go on again."""
    with store.writing() as c:
        row = workers.find(c, id, worker)
        _check_known(row)
        if row.state == workers.BLOCKED:
            spec = projects.find(c, id).spec
            done = votes.tally(c, id).get(worker, {})
            fresh = not done.get(votes.VOTED) and not done.get(votes.UNSURE)
            asked = bool(spec["consent"] or spec["quiz"])
            workers.put(c, id, worker, state=workers.NEW if fresh and asked else workers.ACTIVE)
        return _standing(c, id, key, worker, "unblock")


@routes.delete("/workers/{worker}", status_code=204)
def delete_worker(id: Id, worker: Number, store: StoreOf, key: Writer) -> Response:
    """Erase the personal data of a worker; their votes stay under a number that leads nowhere."""
    with store.writing() as c:
        workers.find(c, id, worker)
        store_people.erase(c, id, worker)
        keys.note(c, key.id, "erase", id, worker=worker)
    return Response(status_code=204)


@routes.post("/codes")
def post_codes(id: Id, given: CodesIn, store: StoreOf, settings: SettingsOf, key: Writer) -> CodesOut:
    """Who has finished with each of these completion codes, as a platform reports them; null for nobody."""
    with store.reading() as c:
        projects.find(c, id)
        staff = workers.listed(c, id)
    return CodesOut(codes=[_finished_with(code, id, staff, settings) for code in given.codes])


@routes.post("/invitations", status_code=201)
def post_invitation(
    id: Id, given: InvitationIn, store: StoreOf, settings: SettingsOf, key: Writer
) -> InvitationOut:
    """A link that lets people in: anybody who has it, or one person by name; for ever, or until it ends."""
    with store.writing() as c:
        prices = make_costs(projects.find(c, id).spec).prices
        kind = given.kind or next(iter(prices))
        if kind not in prices:
            raise InvalidRequestError(f"there is no price for the kind of worker {kind!r}")
        keys.note(c, key.id, "invite", id, kind=kind)
    token = invitation_links.invite(
        settings.secret, id, kind=kind, worker=given.worker, expires=given.expires
    )
    return InvitationOut(link=f"{settings.address}/w/{id}?invite={token}")


def _finished_with(code: str, id: str, staff: Sequence[Record], settings: Settings) -> CodeOut:
    """All codes are compared, each in constant time, so that time tells nothing."""
    found = [
        row.id
        for row in staff
        if same(
            code, completion_code(settings.secret, Session(id, row.id, row.platform, row.assignment or "", 0))
        )
        and row.finished is not None
    ]
    return CodeOut(code=code, worker=found[0] if found else None)


def _check_known(row: Record) -> None:
    if row.state == workers.ERASED:
        raise ConflictError("the personal data of this worker is erased; they cannot come back")


def _standing(c: Any, id: str, key: Record, worker: int, what: str) -> StandingOut:
    keys.note(c, key.id, what, id, worker=worker)
    row = workers.find(c, id, worker)
    return StandingOut(worker=row.id, state=row.state, approved=row.approved)
