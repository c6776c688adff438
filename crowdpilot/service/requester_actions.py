"""What a requester does to a project and its workers, each with its entry in the log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service import item_reviews
from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.labelling.workers import identities, pay
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.store import items, jobs, projects, votes, workers
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.erasure import projects as deletion
from crowdpilot.service.store.erasure.items import delete_items as delete_item_rows
from crowdpilot.service.store.requesters import action_log

ITEMS_PER_TRANSACTION = 10_000  # that are deleted at once
KEEP, LEAVE_OUT = "keep", "leave out"  # what happens to the votes of a worker who is blocked


def invite(
    store: Store, project: str, key: str, *, kind: str | None = None, worker: str = "",
    expires: float | None = None, max_uses: int | None = None,
) -> Row:  # fmt: skip
    """Create an invitation; its row."""
    with store.writing() as c:
        prices = make_costs(projects.find(c, project).spec).prices
        chosen = kind or next(iter(prices))
        if chosen not in prices:
            raise InvalidRequestError(f"there is no price for the kind of worker {chosen!r}")
        row = invitations.create(c, project, kind=chosen, worker=worker, expires=expires, max_uses=max_uses)
        action_log.write(c, key, "invite", project, kind=chosen, invitation=row.id)
        return row


def change_invitation(
    store: Store, project: str, key: str, invitation: str, values: Mapping[str, Any]
) -> Row:
    """Change when an invitation expires, or how many it admits; its row."""
    with store.writing() as c:
        row = invitations.change(c, project, invitation, **values) if values else None
        action_log.write(c, key, "change invitation", project, invitation=invitation, **values)
        return row or invitations.find(c, project, invitation)


def revoke_invitation(store: Store, project: str, key: str, invitation: str, *, block: bool) -> None:
    """Admit nobody by an invitation any more; with `block` who came through it is blocked, too."""
    with store.writing() as c:
        invitations.revoke(c, project, invitation)
        came = invitations.workers_by(c, project, invitation) if block else []
        for worker in came:
            if workers.find(c, project, worker).state != workers.ERASED:
                workers.exclude(c, project, worker, workers.BLOCKED)
        action_log.write(c, key, "revoke invitation", project, invitation=invitation, blocked=len(came))


def change_state(store: Store, project: str, key: str, state: str) -> Row:
    """Open, pause or close a project; its row. One that is opened or paused is not archived any more."""
    with store.writing() as c:
        before = _choose_items_again(c, project)
        is_closed = state == projects.CLOSED
        closed = (before.closed or time.time()) if is_closed else None
        archived = before.archived if is_closed else None
        projects.change(c, project, state=state, closed=closed, archived=archived)
        action_log.write(c, key, state, project)
        return projects.find(c, project)


def archive(store: Store, project: str, key: str) -> Row:
    """Close a project and put it away: lists show it only if they are asked to; its row."""
    with store.writing() as c:
        before, now = _choose_items_again(c, project), time.time()
        if before.archived is None:
            closed = before.closed or now
            projects.change(c, project, state=projects.CLOSED, closed=closed, archived=now)
            action_log.write(c, key, "archive", project)
        return projects.find(c, project)


def restore(store: Store, project: str, key: str) -> Row:
    """Take a project out of the archive; it stays closed until somebody opens it. Its row."""
    with store.writing() as c:
        if _choose_items_again(c, project).archived is not None:
            projects.change(c, project, archived=None)
            action_log.write(c, key, "restore", project)
        return projects.find(c, project)


def _choose_items_again(c: Connection, project: str) -> Row:
    """Make every process that is choosing items look at the state of the project again; its row."""
    projects.next_change(c, project, lease_requests=1)
    return projects.find(c, project)


def approve(store: Store, project: str, key: str, worker: int) -> Row:
    """Approve the pay of a worker; the worker's row."""
    with store.writing() as c:
        workers.find(c, project, worker)
        workers.change(c, project, worker, approved=True)
        return _logged(c, project, key, worker, "approve")


def approve_all(store: Store, project: str, key: str) -> None:
    """Approve the pay of everybody who has answered and is not blocked."""
    with store.writing() as c:
        blocked = {row.id for row in workers.list_all(c, project) if row.state == workers.BLOCKED}
        unpaid = [due.worker for due in pay.list_pay(c, project) if not due.approved]
        chosen = [worker for worker in unpaid if worker not in blocked]
        for worker in chosen:
            workers.change(c, project, worker, approved=True)
        action_log.write(c, key, "approve workers", project, workers=len(chosen))


def block(store: Store, project: str, key: str, worker: int, votes: str = KEEP) -> Row:
    """Block a worker: their leases end, and their votes stay or (`LEAVE_OUT`) do not count any more.

    What is chosen holds until they are unblocked; to block them again chooses again. The worker's row.
    """
    with store.writing() as c:
        before = workers.find(c, project, worker)
        _check_not_erased(before)
        usual = before.trusted if before.state != workers.BLOCKED else _usual_trust(c, project, before)
        is_counted = bool(usual) and votes == KEEP
        workers.exclude(c, project, worker, workers.BLOCKED, trusted=is_counted)
        if is_counted != before.trusted:
            item_reviews.fit_anew(c, project)
        action_log.write(c, key, "block", project, worker=worker, votes=votes)
        return workers.find(c, project, worker)


def unblock(store: Store, project: str, key: str, worker: int) -> Row:
    """Let a blocked worker go on, whose votes count by the usual rules again; the worker's row."""
    with store.writing() as c:
        row = workers.find(c, project, worker)
        _check_not_erased(row)
        if row.state == workers.BLOCKED:
            spec = projects.find(c, project).spec
            tally = votes.counts_by_worker(c, project).get(worker, {})
            has_answered = bool(tally.get(votes.VOTED) or tally.get(votes.UNSURE))
            has_onboarding = bool(spec["consent"] or spec["quiz"])
            state = workers.NEW if has_onboarding and not has_answered else workers.ACTIVE
            is_counted = _usual_trust(c, project, row)
            workers.change(c, project, worker, state=state, trusted=is_counted)
            if is_counted != row.trusted:
                item_reviews.fit_anew(c, project)
        return _logged(c, project, key, worker, "unblock")


def _usual_trust(c: Connection, project: str, worker: Row) -> bool:
    """Whether the votes of a worker would count if they were not blocked: those of guests who passed."""
    return not worker.guest or trust.would_count(c, project, projects.find(c, project).spec, worker.id)


def write_notes(store: Store, project: str, key: str, worker: int, notes: str) -> Row:
    """Write what requesters note about a worker, in place of what was there; the worker's row."""
    with store.writing() as c:
        _check_not_erased(workers.find(c, project, worker))
        workers.change(c, project, worker, notes=notes.strip() or None)
        return _logged(c, project, key, worker, "note")


def erase(store: Store, secret: str, project: str, key: str, worker: int) -> None:
    """Erase the personal data of a worker; their votes stay under a number that leads nowhere."""
    with store.writing() as c:
        identities.erase(c, secret, project, worker)
        action_log.write(c, key, "erase", project, category=action_log.DATA, worker=worker)
        jobs.enqueue(c, project, "purge")  # in case somebody reads at this moment
    store.purge()


def delete_items(store: Store, project: str, key: str, names: Sequence[str]) -> int:
    """Delete items, with their votes and files, some in each transaction; how many."""
    with store.reading() as c:
        items.require_named(c, project, names)
    deleted = 0
    for start in range(0, len(names), ITEMS_PER_TRANSACTION):
        with store.writing() as c:
            deleted += delete_item_rows(c, project, names[start : start + ITEMS_PER_TRANSACTION])
            jobs.enqueue(c, project, "purge")
    with store.writing() as c:
        action_log.write(c, key, "delete items", project, category=action_log.DATA, items=deleted)
    store.purge()
    return deleted


def delete_project(store: Store, project: str, key: str, name: str) -> None:
    """Delete a project: it is gone at once, and its rows are deleted in the background."""
    with store.writing() as c:
        if projects.find(c, project).name != name:
            raise ConflictError("this is not the name of the project; send its name to delete it")
        deletion.begin(c, project, key)


def _check_not_erased(row: Row) -> None:
    if row.state == workers.ERASED:
        raise ConflictError("the personal data of this worker is erased; they cannot come back")


def _logged(c: Connection, project: str, key: str, worker: int, action: str) -> Row:
    action_log.write(c, key, action, project, worker=worker)
    return workers.find(c, project, worker)
