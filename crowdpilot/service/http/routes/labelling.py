"""Routes for workers: a session, the next items, votes, and the completion code."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel

from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf, Worker
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.labelling import comments, finishing, onboarding
from crowdpilot.service.labelling.labelling_service import LeasedItem
from crowdpilot.service.labelling.sessions import sign_session
from crowdpilot.service.schemas import CommentIn, SessionIn, VoteIn
from crowdpilot.service.store import projects, workers

ERRORS = error_schemas(401, 403, 404, 409, 413, 422, 429, 503)
routes = APIRouter(prefix="/api", tags=["worker"], responses=ERRORS)


class SessionOut(BaseModel):
    """A worker's session: its token, and the next step (consent, quiz or label)."""

    token: str
    next: str
    classes: list[str]
    criteria: list[str]


class LeasedItemOut(BaseModel):
    """An item that this worker holds a lease of."""

    item: int
    criterion: int
    content: dict[str, Any]


class NextOut(BaseModel):
    """Items to label now; none if no vote of this worker is worth its price."""

    items: list[LeasedItemOut]


class VoteOut(BaseModel):
    """The vote is committed."""

    committed: bool = True


class CodeOut(BaseModel):
    """The completion code, which shows the platform that the work is done."""

    code: str


@routes.post("/sessions", status_code=201)
def post_session(body: SessionIn, request: Request, store: StoreOf, settings: SettingsOf) -> SessionOut:
    """Start to work on a project: with an invitation, or with the parameters of a platform."""
    platform = "prolific" if body.prolific is not None else "mturk" if body.mturk is not None else "link"
    query = body.prolific or body.mturk or {"invite": body.invite}
    with store.reading() as c:
        spec = projects.find(c, body.project).spec
    keys = onboarding.keys_of_link(request.app.state.prolific_keys, spec, platform, query)
    with store.writing() as c:
        project = projects.find(c, body.project)
        arrival = onboarding.arrive(c, settings, project, platform, query, keys=keys)
        session = onboarding.open_session(c, settings, project, arrival)
        if body.consent:
            onboarding.agree(c, session, project.spec)
        if body.quiz:
            onboarding.take_quiz(c, session, project.spec, body.quiz)
        worker = workers.find(c, session.project, session.worker)
    return SessionOut(
        token=sign_session(settings.secret, session),
        next=onboarding.step(worker, project.spec),
        classes=project.spec["classes"],
        criteria=[criterion["name"] for criterion in project.spec["criteria"]],
    )


@routes.delete("/sessions", status_code=204)
def delete_sessions(session: Worker, store: StoreOf) -> Response:
    """Sign out: all sessions of this worker end, and the items that they hold are for others."""
    with store.writing() as c:
        finishing.sign_out(c, session)
    return Response(status_code=204)


@routes.get("/next")
async def get_next(
    session: Worker, labelling: LabellingOf, n: Annotated[int, Query(ge=1, le=100)] = 10
) -> NextOut:
    """Up to n items to label: those this worker holds already, then new ones."""
    return NextOut(items=[_item(lent) for lent in await labelling.lease(session, n)])


@routes.post("/votes", status_code=201)
async def post_vote(vote: VoteIn, session: Worker, labelling: LabellingOf) -> VoteOut:
    """Record the answer of a worker about an item that they hold; the response comes when it is committed."""
    await labelling.vote(session, vote)
    return VoteOut()


@routes.post("/comments", status_code=204)
def post_comment(comment: CommentIn, session: Worker, labelling: LabellingOf, store: StoreOf) -> Response:
    """Comment on an item that this worker holds or has answered, or flag it; with neither that is deleted."""
    with store.writing() as c:
        comments.write(c, session, labelling.item_numbers(session.project), comment)
    return Response(status_code=204)


@routes.post("/votes/undo")
async def post_undo(session: Worker, labelling: LabellingOf) -> LeasedItemOut:
    """Take back the last answer of the running batch; the worker holds the item again."""
    return _item(await labelling.undo(session))


@routes.post("/finish")
async def post_finish(session: Worker, labelling: LabellingOf) -> CodeOut:
    """End the work on an assignment, and get its completion code; that needs `min_answers` answers."""
    return CodeOut(code=await labelling.finish(session))


def _item(lent: LeasedItem) -> LeasedItemOut:
    return LeasedItemOut(item=lent.item, criterion=lent.criterion, content=lent.content)
