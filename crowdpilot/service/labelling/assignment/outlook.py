"""Outlook: whether there is work for a worker now, later or never again, by the campaign as it is now."""

from __future__ import annotations

import math
from typing import NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.store import clock, leases, workers
from crowdpilot.service.store.engine import Row

NOW, LATER = "now", "later"  # there are items; items may come free, or a refit may ask for more votes
NEVER, COMPLETE = "never", "complete"  # nothing for this worker any more; no more votes of anybody
TOLERANCE = 1e-9  # by which a sum of prices may miss the budget through rounding


class Outlook(NamedTuple):
    """What a worker may expect, and in how many seconds leases of others end at the latest, if any do."""

    work: str
    seconds: float | None = None


def find_outlook(
    c: Connection, replica: Replica, project: Row, kind: str, worker: Row | None = None, n: int = 1
) -> Outlook:
    """The outlook of a worker who asks for `n` items, or of somebody new of a kind, on an open project.

    In a read transaction and the thread that has the replica, which is left as it was.
    """
    if project.done:
        return Outlook(COMPLETE)
    if worker is not None and _may_not_be_asked(c, replica, project, worker):
        return Outlook(NEVER)
    if _has_items(c, replica, project, kind, worker, n):
        return Outlook(NOW)
    return _without_budget(c, replica, project, kind) or _without_items(c, replica, project, kind, worker)


def _without_budget(c: Connection, replica: Replica, project: Row, kind: str) -> Outlook | None:
    """The outlook where a vote cannot be paid: at all, or while others hold items for the money."""
    view, costs = replica.campaign.view, replica.campaign.costs
    price = costs.prices[kind] - TOLERANCE
    if costs.budget - view.spent < price:
        return Outlook(COMPLETE)
    return Outlook(LATER, _seconds(c, project.id)) if view.budget_left < price else None


def _without_items(c: Connection, replica: Replica, project: Row, kind: str, worker: Row | None) -> Outlook:
    """The outlook where no vote of this worker has a value now."""
    campaign, view = replica.campaign, replica.campaign.view
    if len(replica.outdated):
        return Outlook(LATER)
    if worker is not None and campaign.propose(kind=kind):
        return Outlook(NEVER)  # items are free, for others
    name = None if worker is None else worker.id
    if view.waits_for_others(name):
        return Outlook(LATER, _seconds(c, project.id))
    may_refit = project.votes != project.fitted and view.has_unasked(name, campaign.plan.per_item)
    if may_refit or not len(campaign):
        return Outlook(LATER)
    return Outlook(COMPLETE if worker is None or view.is_finished else NEVER)


def _may_not_be_asked(c: Connection, replica: Replica, project: Row, worker: Row) -> bool:
    """Whether the limit of a worker is reached, or they are a guest who is asked nothing more."""
    limit = replica.campaign.plan.per_worker
    terms = trust.lease_terms(c, project.id, project.spec, [worker]).get(worker.id, trust.LeaseTerms())
    held = leases.held_by(c, [worker.id])
    asked = replica.campaign.view.asked_count(worker.id)
    return not held and (terms.most <= 0 or (limit is not None and asked >= limit))


def _has_items(c: Connection, replica: Replica, project: Row, kind: str, worker: Row | None, n: int) -> bool:
    """Whether a request for `n` items would be served."""
    if worker is None:
        return _has_items_for_newcomer(c, replica, kind)
    if leases.held_by(c, [worker.id]):
        return True
    terms = trust.lease_terms(c, project.id, project.spec, [worker]).get(worker.id, trust.LeaseTerms())
    chosen = replica.ask(worker.id, int(min(n, terms.most)), kind, terms.gold_share)
    replica.campaign.release(worker.id, [replica.ask_of(*key) for key in chosen])
    return bool(chosen)


def _has_items_for_newcomer(c: Connection, replica: Replica, kind: str) -> bool:
    """The same for somebody new; for the first of a kind whether any item is open: values are unknown."""
    campaign, view = replica.campaign, replica.campaign.view
    if kind == next(iter(campaign.costs.prices)) or kind in workers.kinds(c, replica.project):
        return bool(campaign.propose(kind=kind))
    is_affordable = view.budget_left >= campaign.costs.prices[kind] - TOLERANCE
    return is_affordable and view.has_unasked(None, campaign.plan.per_item)


def _seconds(c: Connection, project: str) -> float | None:
    last = leases.last_expiry(c, project)
    return None if last is None else max(0.0, math.ceil(last - clock.now(c)))
