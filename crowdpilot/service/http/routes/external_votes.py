"""Routes for teams with a front end of their own: votes to collect next, and votes collected elsewhere."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from crowdpilot.service.errors import InvalidRequestError, ServiceUnavailableError
from crowdpilot.service.http.auth import LabellingOf, LabelOps, ProjectId, StoreOf
from crowdpilot.service.http.json_bodies import body_schema, json_body
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.labelling import external_votes
from crowdpilot.service.schemas import ExternalVoteIn, ExternalVotesIn, Kind, Strict
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log

routes = APIRouter(prefix="/api/projects/{id}", tags=["external votes"], responses=ERRORS)
Votes = Annotated[ExternalVotesIn, Depends(json_body(ExternalVotesIn))]
PLATFORM = "external"  # of workers whose votes are collected elsewhere
MAX_TRIES = 8  # to choose votes while other processes change the project


class VoteRequestsIn(Strict):
    """How many votes can be collected now, and from which kind of worker."""

    n: Annotated[int, Field(ge=1, le=10_000)] = 10
    kind: Kind | None = None


class VoteRequestOut(BaseModel):
    """A vote of any worker that is worth its price; with several criteria on one of them."""

    item: str
    criterion: str
    content: dict[str, Any]


class VoteRequestsOut(BaseModel):
    """Votes to collect; if there are none, whether to ask again in a moment."""

    items: list[VoteRequestOut]
    wait: bool


class ExternalVotesOut(BaseModel):
    """How many votes were committed, and whether a model update is due, which takes a moment."""

    committed: int
    update_due: bool


@routes.post("/vote-requests")
async def post_vote_requests(
    id: ProjectId, body: VoteRequestsIn, labelling: LabellingOf, store: StoreOf, requester: LabelOps
) -> VoteRequestsOut:
    """The votes that the campaign wants next of any worker, as `Campaign.ask` chooses them.

    This is advice and leases nothing: ask, collect these votes, send them, and only then ask again. While
    there are none because a model update is under way, `wait` is true.
    """
    for _ in range(MAX_TRIES):
        wanted = await labelling.read(id, partial(external_votes.propose, store, n=body.n, kind=body.kind))
        if wanted is not None:
            return await asyncio.to_thread(_with_content, store, id, wanted)
    raise ServiceUnavailableError("many ask at once; try again")


def _with_content(store: Store, id: str, wanted: external_votes.Proposal) -> VoteRequestsOut:
    with store.reading() as c:
        ids = items.ids_by_name(c, id, list({ask.item for ask in wanted.asks}))
        content = items.contents(c, ids.values())
    requests = [
        VoteRequestOut(item=ask.item, criterion=ask.criterion, content=content[ids[ask.item]])
        for ask in wanted.asks
    ]
    return VoteRequestsOut(items=requests, wait=wanted.wait)


@routes.post("/external-votes", status_code=201, openapi_extra=body_schema(ExternalVotesIn))
def post_external_votes(id: ProjectId, requester: LabelOps, body: Votes, store: StoreOf) -> ExternalVotesOut:
    """Record votes that were collected elsewhere, requested or not: all or none, as `Campaign.tell` does."""
    with store.writing() as c:
        spec = projects.find(c, id).spec
        votes = [_checked(vote, spec) for vote in body.votes]
        due = external_votes.record_votes(c, id, PLATFORM, votes)
        action_log.write(c, requester.actor, "external votes", id, votes=len(votes))
    return ExternalVotesOut(committed=len(votes), update_due=due)


def _checked(vote: ExternalVoteIn, spec: dict[str, Any]) -> external_votes.ExternalVote:
    criteria = [criterion["name"] for criterion in spec["criteria"]] or [""]
    if vote.criterion not in criteria:
        choices = ", ".join(criteria)
        raise InvalidRequestError(f"there is no criterion {vote.criterion!r}; there are {choices}")
    if vote.label not in spec["classes"]:
        raise InvalidRequestError(f"{vote.label!r} is not a class; there are {', '.join(spec['classes'])}")
    label, criterion = spec["classes"].index(vote.label), criteria.index(vote.criterion)
    return external_votes.ExternalVote(vote.item, vote.worker, label, criterion, vote.kind)
