"""Routes for workers: a session, the next items, votes, and the code at the end."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf, Worker
from crowdpilot.service.http.error_responses import described
from crowdpilot.service.http.schemas import SessionIn, VoteIn
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.labelling_service import Lent
from crowdpilot.service.labelling.sessions import sign_session
from crowdpilot.service.store import projects, workers
from crowdpilot.service.store.votes import Answer

PROBLEMS = described(401, 403, 404, 409, 422, 429, 503)
routes = APIRouter(prefix="/api", tags=["worker"], responses=PROBLEMS)


class SessionOut(BaseModel):
    """A worker's session: its token, and what comes next (consent, quiz or label)."""

    token: str
    next: str
    classes: list[str]
    criteria: list[str]


class LentOut(BaseModel):
    """An item that is lent to this worker."""

    item: int
    criterion: int
    content: dict[str, Any]


class NextOut(BaseModel):
    """What to label now; nothing when nothing is wanted of this worker."""

    items: list[LentOut]


class Taken(BaseModel):
    """The vote is safe."""

    taken: bool = True


class CodeOut(BaseModel):
    """What shows the platform that the work is done."""

    code: str


@routes.post("/sessions", status_code=201)
def post_session(given: SessionIn, store: StoreOf, settings: SettingsOf) -> SessionOut:
    """Start to work on a project: with an invitation, or with what a platform puts in the address."""
    with store.writing() as c:
        project = projects.find(c, given.project)
        platform = (
            "prolific" if given.prolific is not None else "mturk" if given.mturk is not None else "link"
        )
        query = given.prolific or given.mturk or {"invite": given.invite}
        session = onboarding.open_session(
            c, settings, project, onboarding.arrive(settings, project, platform, query)
        )
        if given.consent:
            onboarding.agree(c, session, project.spec)
        if given.quiz:
            onboarding.take_quiz(c, session, project.spec, given.quiz)
        worker = workers.find(c, session.project, session.worker)
    return SessionOut(
        token=sign_session(settings.secret, session),
        next=onboarding.step(worker, project.spec),
        classes=project.spec["classes"],
        criteria=[criterion["name"] for criterion in project.spec["criteria"]],
    )


@routes.get("/next")
async def get_next(
    session: Worker, labelling: LabellingOf, n: Annotated[int, Query(ge=1, le=100)] = 10
) -> NextOut:
    """Up to n items to label: those this worker holds already, then new ones."""
    return NextOut(items=[_shown(lent) for lent in await labelling.next(session, n)])


@routes.post("/votes", status_code=201)
async def post_vote(vote: VoteIn, session: Worker, labelling: LabellingOf) -> Taken:
    """Record the answer of a worker about an item they were lent; the answer comes when it is safe."""
    label = None if vote.label is None else labelling.label(session.project, vote.label)
    await labelling.vote(
        session, Answer(session.worker, vote.item, vote.criterion, label, vote.seconds, vote.key)
    )
    return Taken()


@routes.post("/votes/undo")
async def post_undo(session: Worker, labelling: LabellingOf) -> LentOut:
    """Take back the last answer of the running batch; the item is lent again."""
    return _shown(await labelling.undo(session))


@routes.post("/finish")
async def post_finish(session: Worker, labelling: LabellingOf) -> CodeOut:
    """Say that the work is done, and get the completion code."""
    return CodeOut(code=await labelling.finish(session))


def _shown(lent: Lent) -> LentOut:
    return LentOut(item=lent.item, criterion=lent.criterion, content=lent.content)
