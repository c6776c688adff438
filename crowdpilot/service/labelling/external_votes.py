"""External votes: campaigns whose votes are collected elsewhere, by another front end or from a record.

Proposals are not leased: who asks again before recording votes gets the same. Votes are recorded in one
transaction, all or none, with one vote for each (item, criterion, worker).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from crowdpilot.hybrid import Ask
from crowdpilot.service.errors import ConflictError, InvalidRequestError, NotFoundError
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.project_campaign import make_costs, refit_due
from crowdpilot.service.store import items, jobs, projects
from crowdpilot.service.store.answers import external_votes
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.votes import UNSURE, VOTED


class ExternalVote(NamedTuple):
    """A vote that was collected elsewhere; the label is the number of a class."""

    item: str
    worker: str
    label: int
    criterion: int = 0
    kind: str | None = None
    seconds: float | None = None
    time: float | None = None
    key: str | None = None


class Proposal(NamedTuple):
    """The votes to collect next, and whether there may be more after some waiting."""

    asks: list[Ask]
    wait: bool


def propose(store: Store, replica: Replica, project: Row, n: int, kind: str | None) -> Proposal | None:
    """What `Campaign.ask` would ask of anyone.

    Where the plan draws at random, the request is counted in the database by compare-and-set; None if another
    process was first, so that the answer may differ and has to be asked for again.
    """
    if project.state != projects.OPEN:
        raise ConflictError(f"the project is {project.state}; no votes are asked for now")
    campaign = replica.campaign
    asks = campaign.propose(n, kind=kind)
    is_random = campaign.plan.explore + campaign.plan.gold > 0
    count = is_random and campaign.view.requests != project.lease_requests
    refit = not asks and project.votes != project.fitted and not campaign.view.has_open_leases
    if count or refit:
        with store.writing() as c:
            if count and projects.claim_lease_requests(c, project.id, project.lease_requests) is None:
                return None
            if refit:
                jobs.enqueue(c, project.id, "refit")  # no vote has a value now: it may after a refit
    return Proposal(asks, not asks and (refit or campaign.view.has_open_leases))


def record_votes(
    c: Connection, id: str, platform: str, new: Sequence[ExternalVote], *, replace: bool = False
) -> bool:
    """Record votes, all or none, as `Campaign.tell` does; whether a refit is due then, which is enqueued.

    Parameters
    ----------
    c
        A write transaction; it holds the project's row from here on.
    id
        Of the project.
    platform
        Where the workers have their names.
    new
        The votes, in their order.
    replace
        Whether a vote may replace an earlier one of the same worker.
    """
    if replace:
        new = list({(vote.item, vote.worker, vote.criterion): vote for vote in new}.values())
    projects.next_change(c, id)  # no other transaction writes to the project from here on
    project = projects.find(c, id)
    if project.state == projects.CLOSED:
        raise ConflictError("the project is closed; it takes no more votes")
    item_ids = items.ids_by_name(c, id, list({vote.item for vote in new}))
    if missing := [vote.item for vote in new if vote.item not in item_ids]:
        raise NotFoundError(f"there is no item {missing[0]!r}; add it first")
    workers = _register_workers(c, project, platform, new)
    rows = [_row(vote, item_ids, workers) for vote in new]
    if not replace:
        _check_repeats(c, new, rows)
    row = external_votes.write(c, id, rows)
    due = refit_due(project.spec, row.votes, row.fitted)
    if due:
        jobs.enqueue_refit(c, id)
    return due


def _row(vote: ExternalVote, item_ids: dict[str, int], workers: dict[str, Row]) -> external_votes.StoredVote:
    worker = int(workers[vote.worker].id)
    rest = vote.label, vote.seconds, vote.time, vote.key
    return external_votes.StoredVote(item_ids[vote.item], vote.criterion, worker, *rest)


def _register_workers(
    c: Connection, project: Row, platform: str, new: Sequence[ExternalVote]
) -> dict[str, Row]:
    """The rows of the workers of these votes, by name; each is of one kind only."""
    prices = make_costs(project.spec).prices
    first_kind, kinds = next(iter(prices)), dict[str, str]()
    for vote in new:
        if vote.kind is not None and vote.kind not in prices:
            raise InvalidRequestError(f"there is no price for the kind of worker {vote.kind!r}")
        kinds.setdefault(vote.worker, vote.kind or first_kind)
    workers = external_votes.register_workers(c, project.id, platform, kinds)
    for vote in new:
        known = workers[vote.worker].kind
        if vote.kind not in (None, known):
            raise InvalidRequestError(f"worker {vote.worker!r} is of the kind {known!r}, not {vote.kind!r}")
    return workers


def _check_repeats(
    c: Connection, new: Sequence[ExternalVote], rows: Sequence[external_votes.StoredVote]
) -> None:
    """Raise a ConflictError if a worker has voted already, or votes twice at once."""
    before = external_votes.states(c, list({row.worker for row in rows}))
    seen = set()
    for row, vote in zip(rows, new, strict=True):
        if before.get(row.vote_id) in (VOTED, UNSURE):
            raise ConflictError(f"worker {vote.worker!r} has voted on item {vote.item!r} already")
        if row.vote_id in seen:
            raise ConflictError(f"worker {vote.worker!r} votes on item {vote.item!r} twice; keep one vote")
        seen.add(row.vote_id)
