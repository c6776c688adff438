"""HITs of a project on Mechanical Turk: created, extended, ended, approved, rejected and paid from here.

Money is paid only with the credentials of the server, only for HITs that were created here, and outside of
the sandbox only if the total was typed. Every action is in the log.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.platforms import mturk_client
from crowdpilot.service.schemas.fields import Plain, Strict
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import hits, submissions
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log

DAY_SECONDS = 86400
FEES = Decimal("0.2"), Decimal("0.4")  # https://requester.mturk.com/pricing, as of 2025; the higher one from
MANY_ASSIGNMENTS = 10  # assignments on
MAX_TOTAL = Decimal(100_000)  # dollars, for one HIT
Token = Annotated[Plain, Field(pattern=r"^[0-9A-Za-z_-]{8,40}$")]
Dollars = Annotated[Plain, Field(pattern=r"^[0-9]{1,5}(\.[0-9]{1,2})?$")]


class HitIn(Strict):
    """A HIT that is to be created; outside of the sandbox `confirm_total` is its total in dollars."""

    title: Annotated[Plain, Field(min_length=1, max_length=128)]
    description: Annotated[Plain, Field(min_length=1, max_length=2000)]
    keywords: Annotated[Plain, Field(max_length=1000)] = ""
    reward: Dollars
    assignments: Annotated[int, Field(ge=1, le=10_000)]
    minutes: Annotated[int, Field(ge=1, le=60 * 24 * 365)] = 60
    days: Annotated[int, Field(ge=1, le=365)] = 7
    percent_approved: Annotated[int, Field(ge=0, le=100)] = 0
    number_approved: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    countries: Annotated[list[Annotated[Plain, Field(pattern=r"^[A-Z]{2}$")]], Field(max_length=100)] = Field(
        default_factory=list
    )
    token: Token
    confirm_total: Annotated[Plain, Field(max_length=20)] = ""


class ExtensionIn(Strict):
    """More assignments of a HIT, and days more from now until it ends; see `HitIn`."""

    assignments: Annotated[int, Field(ge=0, le=10_000)] = 0
    days: Annotated[int, Field(ge=1, le=365)] | None = None
    token: Token
    confirm_total: Annotated[Plain, Field(max_length=20)] = ""


class BonusIn(Strict):
    """A bonus for an assignment; the same token pays once."""

    amount: Dollars
    reason: Annotated[Plain, Field(min_length=1, max_length=1000)]
    token: Token
    confirm_total: Annotated[Plain, Field(max_length=20)] = ""


class ConfirmationError(ConflictError):
    """The total was not typed, or another one."""


class HitView(NamedTuple):
    """A HIT as MTurk knows it now: its state and assignments, or why they cannot be read."""

    state: mturk_client.HitState | None
    assignments: Sequence[mturk_client.Submitted] = ()
    problem: str = ""


class RejectionIn(Strict):
    """Why an assignment is rejected; its worker reads it."""

    reason: Annotated[Plain, Field(min_length=1, max_length=1000)]


def total_of(reward: str, assignments: int) -> Decimal:
    """What all assignments cost, without the fee of Amazon."""
    return Decimal(reward) * assignments


def fee_rate(assignments: int) -> Decimal:
    """The share that Amazon takes in addition to the reward, of a HIT with so many assignments."""
    return FEES[assignments >= MANY_ASSIGNMENTS]


def create(store: Store, settings: Settings, project: str, actor: str, new: HitIn) -> Row:
    """Create a HIT that shows the project; the same token makes one HIT. Its row."""
    with store.reading() as c:
        row = projects.find(c, project)
    if row.spec["mturk"] is None:
        raise ConflictError("this project is not offered on Mechanical Turk; say so in its settings first")
    if row.state != projects.OPEN:
        raise ConflictError("the project takes no workers now; open it first")
    sandbox = bool(row.spec["mturk"]["sandbox"])
    _confirm(total_of(new.reward, new.assignments), new.confirm_total, sandbox=sandbox)
    offer = mturk_client.Offer(
        title=new.title, description=new.description, keywords=new.keywords, reward=new.reward,
        assignments=new.assignments, lifetime=new.days * DAY_SECONDS, duration=new.minutes * 60,
        qualifications=mturk_client.qualified(
            percent=new.percent_approved, approved=new.number_approved, countries=new.countries
        ),
        token=f"{project}-{new.token}",
    )  # fmt: skip
    client = mturk_client.connect(sandbox)
    made = mturk_client.publish_once(client, f"{settings.address}/w/{project}/mturk", offer, sandbox=sandbox)
    with store.writing() as c:
        reward, assignments = made.reward or mturk_client.dollars(new.reward), made.assignments
        values = {"sandbox": sandbox, "title": made.title or new.title, "reward": reward,
                  "assignments": assignments or new.assignments,
                  "expires": time.time() + new.days * DAY_SECONDS, "preview_url": made.page}  # fmt: skip
        if hits.add(c, project, made.id, **values):
            _log(c, actor, "create HIT", project, made.id, sandbox, reward=reward,
                 assignments=values["assignments"])  # fmt: skip
        return hits.find(c, project, made.id)


def extend(store: Store, project: str, actor: str, hit: str, more: ExtensionIn) -> Row:
    """More assignments of a HIT, or more time; its row."""
    row = _find(store, project, hit)
    _confirm(total_of(row.reward, more.assignments), more.confirm_total, sandbox=row.sandbox)
    until = None if more.days is None else time.time() + more.days * DAY_SECONDS
    total = mturk_client.extend(
        mturk_client.connect(row.sandbox), hit, assignments=more.assignments, until=until,
        token=f"{project}-{more.token}",
    )  # fmt: skip
    with store.writing() as c:
        expires = row.expires if until is None else until
        hits.change(c, project, hit, assignments=total, expires=expires)
        _log(c, actor, "extend HIT", project, hit, row.sandbox, assignments=more.assignments, days=more.days)
        return hits.find(c, project, hit)


def expire(store: Store, project: str, actor: str, hit: str) -> Row:
    """Nobody can take a HIT any more; its row."""
    row = _find(store, project, hit)
    mturk_client.expire(mturk_client.connect(row.sandbox), hit)
    with store.writing() as c:
        hits.change(c, project, hit, expires=time.time())
        _log(c, actor, "expire HIT", project, hit, row.sandbox)
        return hits.find(c, project, hit)


def list_submitted(store: Store, project: str, hit: str) -> list[mturk_client.Submitted]:
    """The assignments of a HIT that wait to be approved or rejected."""
    row = _find(store, project, hit)
    return mturk_client.submitted(mturk_client.connect(row.sandbox), hit)


def view(hit: Row, *, assignments: bool) -> HitView:
    """A HIT as MTurk knows it now; it never fails. Assignments that wait come first, then the newest."""
    state = None
    try:
        client = mturk_client.connect(hit.sandbox, quick=True)
        state = mturk_client.state_of(client, hit.id)
        found = mturk_client.submitted(client, hit.id, mturk_client.STATUSES) if assignments else []
    except ValueError as error:
        return HitView(state, problem=str(error))
    return HitView(state, sorted(found, key=lambda one: (one.status != mturk_client.SUBMITTED, -one.time)))


def approve(store: Store, project: str, actor: str, hit: str, assignment: str) -> None:
    """Approve an assignment of a HIT: its worker is paid the reward. One that is approved stays so."""
    row, client, found = _own_assignment(store, project, hit, assignment)
    is_new = found.status != mturk_client.APPROVED
    if is_new:
        mturk_client.approve(client, assignment)
    with store.writing() as c:
        submissions.review_external(c, project, assignment, submissions.APPROVED)
        if is_new:
            _log(c, actor, "approve assignment", project, hit, row.sandbox, assignment=assignment)


def reject(store: Store, project: str, actor: str, hit: str, assignment: str, reason: str) -> None:
    """Reject an assignment of a HIT: its worker is not paid and reads why."""
    row, client, _ = _own_assignment(store, project, hit, assignment)
    mturk_client.reject(client, assignment, reason)
    with store.writing() as c:
        submissions.review_external(c, project, assignment, submissions.REJECTED, reason)
        _log(c, actor, "reject assignment", project, hit, row.sandbox, assignment=assignment, reason=reason)


def pay_bonus(store: Store, project: str, actor: str, hit: str, assignment: str, bonus: BonusIn) -> None:
    """Pay the worker of an assignment more, once for each token."""
    row, client, found = _own_assignment(store, project, hit, assignment)
    _confirm(Decimal(bonus.amount), bonus.confirm_total, sandbox=row.sandbox)
    token = f"{project}-{bonus.token}"
    is_new = mturk_client.bonus(client, found.worker, assignment, bonus.amount, bonus.reason, token=token)
    about = {"assignment": assignment, "amount": bonus.amount, **({} if is_new else {"repeated": True})}
    with store.writing() as c:
        _log(c, actor, "pay bonus", project, hit, row.sandbox, **about)


def _find(store: Store, project: str, hit: str) -> Row:
    with store.reading() as c:
        return hits.find(c, project, hit)


def _own_assignment(
    store: Store, project: str, hit: str, assignment: str
) -> tuple[Row, Any, mturk_client.Submitted]:
    """A HIT, a client, and the assignment; the credentials of the server pay for this project only."""
    if not re.fullmatch(r"[0-9A-Z]{1,64}", assignment):
        raise InvalidRequestError("this is no id of an assignment; choose one of the list")
    row = _find(store, project, hit)
    client = mturk_client.connect(row.sandbox)
    return row, client, mturk_client.find_assignment(client, hit, assignment)


def _confirm(total: Decimal, typed: str, *, sandbox: bool) -> None:
    """Outside of the sandbox the total has to be typed."""
    if total > MAX_TOTAL:
        raise InvalidRequestError(f"{total:.2f} dollars are more than {MAX_TOTAL} at once; ask for less")
    if sandbox or total == 0:
        return
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,2})?", typed) or Decimal(typed) != total:
        raise ConfirmationError(
            f"this costs {total:.2f} dollars and Amazon’s fee; type {total:.2f} to confirm it"
        )


def _log(c: Any, actor: str, action: str, project: str, hit: str, sandbox: bool, **detail: Any) -> None:
    about = {"hit": hit, "sandbox": sandbox, **detail}
    action_log.write(c, actor, action, project, category=action_log.WORKER, **about)
