"""Schemas of sessions, answers and votes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from crowdpilot.service.schemas.fields import Kind, Name, Plain, Strict


class SessionIn(Strict):
    """An invitation, or the parameters that a platform adds to the address; consent and quiz answers."""

    project: Annotated[Plain, Field(pattern=r"^[0-9a-f]{12}$")]
    invite: Annotated[Plain, Field(max_length=2000)] = ""
    prolific: Annotated[dict[Name, Annotated[Plain, Field(max_length=4000)]], Field(max_length=10)] | None = (
        None
    )
    mturk: Annotated[dict[Name, Annotated[Plain, Field(max_length=2000)]], Field(max_length=10)] | None = None
    consent: bool = False
    quiz: Annotated[list[Name], Field(max_length=50)] = []


class VoteIn(Strict):
    """A worker's answer about an item that they hold a lease of; without a label they cannot tell."""

    item: Annotated[int, Field(ge=0, lt=2**63)]
    criterion: Annotated[int, Field(ge=0, le=20)] = 0
    label: Name | None
    seconds: Annotated[float, Field(ge=0, le=86400)] | None = None
    key: Annotated[Plain, Field(min_length=8, max_length=64)]


class CommentIn(Strict):
    """A worker's comment on an item that they hold or have answered, or a flag; neither: it is deleted."""

    item: Annotated[int, Field(ge=0, lt=2**63)]
    criterion: Annotated[int, Field(ge=0, le=20)] = 0
    text: Annotated[Plain, Field(max_length=2000)] = ""
    flagged: bool = False


class ExternalVoteIn(Strict):
    """A vote that was collected elsewhere."""

    item: Name
    worker: Name
    label: Name
    criterion: Annotated[Plain, Field(max_length=200)] = ""
    kind: Kind | None = None


class ExternalVotesIn(Strict):
    """Votes that were collected elsewhere."""

    votes: Annotated[list[ExternalVoteIn], Field(min_length=1, max_length=100_000)]
