"""Routes for teams with a front end of their own: what is wanted next, and votes given elsewhere."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from crowdpilot.service.errors import InvalidRequestError, ServiceUnavailableError
from crowdpilot.service.http.auth import LabellingOf, StoreOf, Writer
from crowdpilot.service.http.routes.projects import PROBLEMS, Id
from crowdpilot.service.http.schemas import Kind, Strict, ToldVote, VotesIn
from crowdpilot.service.labelling import external_votes
from crowdpilot.service.store import items, keys, projects

routes = APIRouter(prefix="/api/projects/{id}", tags=["relay"], responses=PROBLEMS)
PATIENCE = 8  # how often it is thought over what to ask for


class AsksIn(Strict):
    """How many votes somebody could collect now, and from which kind of worker."""

    n: Annotated[int, Field(ge=1, le=10_000)] = 10
    kind: Kind | None = None


class AskOut(BaseModel):
    """A vote that is wanted, of anyone; with several criteria on one of them."""

    item: str
    criterion: str
    content: dict[str, Any]


class AsksOut(BaseModel):
    """Votes that are wanted; if there are none, whether to ask again in a moment."""

    items: list[AskOut]
    wait: bool


class ToldOut(BaseModel):
    """How many votes were taken, and whether a lesson from them is due, which takes a moment."""

    taken: int
    due: bool


@routes.post("/asks")
async def post_asks(id: Id, given: AsksIn, labelling: LabellingOf, store: StoreOf, key: Writer) -> AsksOut:
    """What the campaign wants next of anyone, as `Campaign.ask` says.

    This is advice and lends nothing: ask, collect these votes, tell them, and only then ask again. While
    nothing is wanted because a lesson is under way, `wait` is true.
    """
    for _ in range(PATIENCE):
        wanted = await labelling.look(id, partial(external_votes.want, store, n=given.n, kind=given.kind))
        if wanted is not None:
            return await asyncio.to_thread(_shown, store, id, wanted)
    raise ServiceUnavailableError("many ask at once; try again")


def _shown(store: StoreOf, id: str, wanted: external_votes.Wanted) -> AsksOut:
    with store.reading() as c:
        ids = items.known(c, id, list({ask.item for ask in wanted.asks}))
        content = items.contents(c, ids.values())
    asks = [AskOut(item=a.item, criterion=a.criterion, content=content[ids[a.item]]) for a in wanted.asks]
    return AsksOut(items=asks, wait=wanted.wait)


@routes.post("/told", status_code=201)
def post_told(id: Id, given: VotesIn, store: StoreOf, key: Writer) -> ToldOut:
    """Votes that were given elsewhere, all or none, as `Campaign.tell` takes them: asked for or not."""
    with store.writing() as c:
        spec = projects.find(c, id).spec
        told = [_told(vote, spec) for vote in given.votes]
        due = external_votes.tell(c, id, "relay", told)
        keys.note(c, key.id, "tell", id, votes=len(told))
    return ToldOut(taken=len(told), due=due)


def _told(vote: ToldVote, spec: dict[str, Any]) -> external_votes.Told:
    criteria = [criterion["name"] for criterion in spec["criteria"]] or [""]
    if vote.criterion not in criteria:
        raise InvalidRequestError(
            f"there is no criterion {vote.criterion!r}; there are {', '.join(criteria)}"
        )
    if vote.label not in spec["classes"]:
        raise InvalidRequestError(f"{vote.label!r} is not a class; there are {', '.join(spec['classes'])}")
    label, criterion = spec["classes"].index(vote.label), criteria.index(vote.criterion)
    return external_votes.Told(vote.item, vote.worker, label, criterion, vote.kind)
