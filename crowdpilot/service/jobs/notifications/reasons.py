"""Reasons to tell the requesters of a project something: what is so at this moment."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.workers import worker_quality
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.store import projects, workers
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.messages import notifications
from crowdpilot.service.store.messages.notifications import BUDGET, DONE, STUCK, WORKER, Key

QUIET_SECONDS = 24 * 3600.0  # without an answer, after which an open project is stuck
FULL_SECONDS = 3600.0  # the same where nobody who is there may answer more
NEARLY_SPENT = 0.9  # share of the budget
ALL_EVENTS = frozenset({DONE, STUCK, BUDGET, WORKER})
NEARLY, SPENT = "nearly", "spent"  # what a notification about the budget is about
FLAG_WORDS = {
    "below chance": "their answers are worse than guesses",
    "always the same label": "they give the same answer nearly always",
    "wrong on gold": "they are wrong on items whose answer is known",
    "too fast": "they answer much faster than the others",
}
NOT_TRUSTED = "they failed the check by items whose answer is known, and their answers do not count"

Reasons = dict[Key, dict[str, Any]]  # by event and what it is about: facts for the message


class Findings(NamedTuple):
    """What requesters should know, and the events of which nothing can be said now: what was told stays."""

    reasons: Reasons
    unknown: frozenset[str] = frozenset()

    def __or__(self, other: Findings) -> Findings:
        return Findings({**self.reasons, **other.reasons}, self.unknown | other.unknown)


class Money(NamedTuple):
    """Where the budget of a project stands."""

    budget: float
    spent: float
    price: float  # of the cheapest vote

    @property
    def share(self) -> float:
        """Of the budget that is gone."""
        return self.spent / self.budget if self.budget else 1.0

    @property
    def is_spent(self) -> bool:
        """Whether no further vote can be paid."""
        return self.budget - self.spent < self.price * (1 - 1e-9)


def find_reasons(context: JobContext, project: str, now: float | None = None) -> Findings:
    """All that requesters should know of a project now."""
    replica, row = context.replica(project)
    if row.done:
        found = Findings({(DONE, ""): _done_facts(replica, row)}, frozenset({BUDGET}))
    elif row.state != projects.OPEN:
        return Findings({}, ALL_EVENTS)
    elif not len(replica.campaign):
        return Findings({})
    else:
        found = Findings(_budget_reasons(_money(replica, row.spec)))
        if (BUDGET, SPENT) not in found.reasons:
            found |= _find_stuck(context, replica, row, time.time() if now is None else now)
    found |= _flagged_workers(context, replica, row)
    return found if row.state == projects.OPEN else Findings(found.reasons, ALL_EVENTS)


def _done_facts(replica: Replica, project: Row) -> dict[str, Any]:
    status = replica.campaign.status()
    return {"items": status.items, "votes": int(project.votes), "spent": round(status.spent, 6)}


def _money(replica: Replica, spec: Mapping[str, Any]) -> Money | None:
    budget = spec["costs"]["budget"]
    if budget is None:
        return None
    price = min((price for price in make_costs(spec).prices.values()), default=0.0)
    return Money(float(budget), replica.campaign.view.spent, price)


def _budget_reasons(money: Money | None) -> Reasons:
    if money is None or (money.share < NEARLY_SPENT and not money.is_spent):
        return {}
    facts = {"budget": money.budget, "spent": round(money.spent, 6)}
    reasons: Reasons = {(BUDGET, NEARLY): facts}
    return {**reasons, (BUDGET, SPENT): facts} if money.is_spent else reasons


def _find_stuck(context: JobContext, replica: Replica, project: Row, now: float) -> Findings:
    """Whether no answers come; what was told stays until one comes, whoever looks at the project."""
    with context.store.reading() as c:
        last = notifications.last_progress(c, project)
        sent = notifications.read(c, project.id).get((STUCK, ""))
        known_workers = workers.list_all(c, project.id)
    if sent is not None and last <= sent:
        return Findings({}, frozenset({STUCK}))
    if replica.campaign.view.has_open_leases or replica.campaign.view.is_finished:
        return Findings({})
    status = replica.campaign.status()
    facts = {"hours": int((now - last) // 3600), "open": status.open - status.done}
    if now - last >= FULL_SECONDS and (most := _limit_reached(replica, known_workers)) is not None:
        return Findings({(STUCK, ""): {**facts, "per_worker": most}})
    return Findings({(STUCK, ""): facts} if now - last >= QUIET_SECONDS else {})


def _limit_reached(replica: Replica, known_workers: Sequence[Row]) -> int | None:
    """The number of answers a worker may give, if there are workers and all have given so many."""
    most: int | None = replica.spec["plan"]["per_worker"]
    if most is None:
        return None
    asked = [
        replica.campaign.view.asked_count(worker.id)
        for worker in known_workers
        if worker.state == workers.ACTIVE
    ]
    return most if asked and min(asked) >= most else None


def _flagged_workers(context: JobContext, replica: Replica, project: Row) -> Findings:
    """Workers who are flagged, or whose votes do not count after they were checked."""
    if WORKER not in project.spec["notify"]["events"]:
        return Findings({}, frozenset({WORKER}))
    skills = worker_quality.worker_skills(worker_quality.read_votes(replica, project))
    listed = worker_quality.list_workers(context.store, project.id, skills)
    with context.store.reading() as c:
        failed = trust.failed_checks(c, project.id, project.spec)
    reasons: Reasons = {}
    for worker in listed:
        if worker["state"] in (workers.BLOCKED, workers.ERASED):
            continue
        why = [FLAG_WORDS[flag] for flag in worker["flags"] if flag in FLAG_WORDS]
        why += [NOT_TRUSTED] if worker["worker"] in failed else []
        if why:
            about = {"worker": worker["worker"], "why": why, "votes": worker["votes"]}
            reasons[WORKER, str(worker["worker"])] = about
    return Findings(reasons)
