"""Relay: campaigns whose votes are collected elsewhere, by a front end of one's own or from a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from crowdpilot.hybrid import Ask, Campaign
from crowdpilot.service.errors import ConflictError, InvalidRequestError, NotFoundError
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import is_due, make_costs
from crowdpilot.service.store import external_votes, items, jobs, projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.votes import UNSURE, VOTED


class Told(NamedTuple):
    """A vote that was given elsewhere; the label is the number of a class."""

    item: str
    worker: str
    label: int
    criterion: int = 0
    kind: str | None = None
    seconds: float | None = None
    time: float | None = None
    key: str | None = None


class Wanted(NamedTuple):
    """What the campaign wants next of anyone, and whether more may be wanted after some waiting."""

    asks: list[Ask]
    wait: bool


def want(store: Store, replica: Replica, project: Record, n: int, kind: str | None) -> Wanted | None:
    """What `Campaign.ask` would ask of anyone; None if others have lent meanwhile, so that it may differ.

    Nothing is lent: who asks again before telling is told the same again.
    """
    if project.state != projects.OPEN:
        raise ConflictError(f"the project is {project.state}; nothing is wanted now")
    campaign = replica.campaign
    asks = _ask_anyone(campaign, n, kind)
    drawn = campaign.plan.explore + campaign.plan.gold > 0 and campaign.asked != project.asked
    idle = not asks and project.votes != project.fitted and not campaign.ledger.lent
    if drawn or idle:
        with store.writing() as c:
            if drawn and projects.claim(c, project.id, project.asked) is None:
                return None
            if idle:
                jobs.enqueue(c, project.id, "refit")  # nothing is wanted: learn, and look again
    return Wanted(asks, not asks and (idle or bool(campaign.ledger.lent)))


def _ask_anyone(campaign: Campaign, n: int, kind: str | None) -> list[Ask]:
    """Ask, and leave the campaign as it was."""
    wishes = campaign.wishes
    met = wishes.met.copy()
    try:
        return campaign.ask(None, n, kind=kind)
    finally:
        campaign.release(None)
        if (wishes.met != met).any():  # that such workers have come is known when one has voted
            wishes.met[:] = met
            wishes.weigh(np.arange(len(campaign.pool)))


def tell(c: Connection, id: str, platform: str, told: Sequence[Told], *, again: bool = False) -> bool:
    """Take votes from elsewhere, all or none, as `Campaign.tell` does; whether a lesson is due then.

    Parameters
    ----------
    c
        A transaction.
    id
        Of the project.
    platform
        Where the workers have their names.
    told
        The votes, in their order.
    again
        Whether a worker may change what they said before.
    """
    if again:
        told = list({(vote.item, vote.worker, vote.criterion): vote for vote in told}.values())
    projects.tick(c, id)  # nobody else writes from here on
    project = projects.find(c, id)
    if project.state == projects.CLOSED:
        raise ConflictError("the project is closed; it takes no more votes")
    known = items.known(c, id, list({vote.item for vote in told}))
    if missing := [vote.item for vote in told if vote.item not in known]:
        raise NotFoundError(f"there is no item {missing[0]!r}; add it first")
    staff = _staff(c, project, platform, told)
    given = [_given(vote, known, staff) for vote in told]
    if not again:
        _check(c, told, given)
    row = external_votes.put(c, id, given)
    due = is_due(project.spec, row.votes, row.fitted)
    if due:
        jobs.enqueue_refit(c, id)
    return due


def _given(vote: Told, known: dict[str, int], staff: dict[str, Record]) -> external_votes.Given:
    who = int(staff[vote.worker].id)
    rest = vote.label, vote.seconds, vote.time, vote.key
    return external_votes.Given(known[vote.item], vote.criterion, who, *rest)


def _staff(c: Connection, project: Record, platform: str, told: Sequence[Told]) -> dict[str, Record]:
    """The workers of these votes; each is of one kind only."""
    prices = make_costs(project.spec).prices
    usual, kinds = next(iter(prices)), dict[str, str]()
    for vote in told:
        if vote.kind is not None and vote.kind not in prices:
            raise InvalidRequestError(f"there is no price for the kind of worker {vote.kind!r}")
        kinds.setdefault(vote.worker, vote.kind or usual)
    staff = external_votes.enlist(c, project.id, platform, kinds)
    for vote in told:
        if vote.kind not in (None, staff[vote.worker].kind):
            of = staff[vote.worker].kind
            raise InvalidRequestError(f"worker {vote.worker!r} is of the kind {of!r}, not {vote.kind!r}")
    return staff


def _check(c: Connection, told: Sequence[Told], given: Sequence[external_votes.Given]) -> None:
    """Raise a ConflictError if somebody has voted already, or votes twice at once."""
    before = external_votes.states(c, list({vote.worker for vote in given}))
    met = set()
    for vote, said in zip(given, told, strict=True):
        if before.get(vote.place) in (VOTED, UNSURE):
            raise ConflictError(f"worker {said.worker!r} has voted on item {said.item!r} already")
        if vote.place in met:
            raise ConflictError(f"worker {said.worker!r} votes on item {said.item!r} twice; keep one vote")
        met.add(vote.place)
