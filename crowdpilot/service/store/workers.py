"""Queries on workers: registration and states."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from crowdpilot.service.errors import ForbiddenError, NotFoundError
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import votes, workers
from crowdpilot.service.store.votes import LEASED, RETURNED

NEW, ACTIVE, BLOCKED, ERASED = "new", "active", "blocked", "erased"
_CAMPAIGN_COLUMNS = workers.c.id, workers.c.kind, workers.c.state, workers.c.guest, workers.c.trusted


def register(
    c: Connection,
    project: str,
    platform: str,
    external: str,
    *,
    kind: str,
    state: str = NEW,
    guest: bool = False,
    trusted: bool = True,
    invitation: str | None = None,
) -> Row:
    """The row of the worker of this name on this platform, inserted if new, in a write transaction.

    `ForbiddenError` if they are blocked or erased.
    """
    own = _identity(project, platform, external)
    row = c.execute(select(workers).where(*own)).first()
    if row is None:
        number = int(projects.next_change(c, project).change_number)
        row = c.execute(select(workers).where(*own)).first()  # another process may have been faster
    if row is None:
        new = {"project": project, "platform": platform, "external": external, "kind": kind, "state": state,
               "created": time.time(), "guest": guest, "trusted": trusted, "invitation": invitation,
               "change_number": number}  # fmt: skip
        row = c.execute(insert(workers).values(new).returning(*workers.c)).one()
    if row.state in (BLOCKED, ERASED):
        raise ForbiddenError("you cannot work on this project any more")
    return row


def is_registered(c: Connection, project: str, platform: str, external: str) -> bool:
    """Whether a worker of this name on this platform exists."""
    return c.execute(select(workers.c.id).where(*_identity(project, platform, external))).first() is not None


def _identity(project: str, platform: str, external: str) -> tuple[ColumnElement[bool], ...]:
    """The condition of the unique index on (project, platform, external)."""
    return workers.c.project == project, workers.c.platform == platform, workers.c.external == external


def find(c: Connection, project: str, worker: int) -> Row:
    """The row of a worker, by the primary key; `NotFoundError` if the project has none such."""
    row = c.execute(select(workers).where(workers.c.project == project, workers.c.id == worker)).first()
    if row is None:
        raise NotFoundError("there is no such worker in this project")
    return row


def find_many(c: Connection, project: str, ids: Sequence[int]) -> dict[int, Row]:
    """Id, kind, state and trust of those of these workers that exist, by id."""
    columns = _CAMPAIGN_COLUMNS
    own = workers.c.project == project, workers.c.id.in_(ids)
    return {row.id: row for row in c.execute(select(*columns).where(*own))}


def list_all(c: Connection, project: str) -> Sequence[Row]:
    """All workers of a project in the order of registration."""
    return c.execute(select(workers).where(workers.c.project == project).order_by(workers.c.id)).all()


def changed_since(c: Connection, project: str, number: int) -> Sequence[Row]:
    """Id, kind, state and trust of workers changed after a change number, in the order of registration.

    By the index on (project, change_number), in the read transaction of a replica.
    """
    columns = _CAMPAIGN_COLUMNS
    changed = workers.c.project == project, workers.c.change_number > number
    return c.execute(select(*columns).where(*changed).order_by(workers.c.id)).all()


def change(c: Connection, project: str, worker: int, **values: Any) -> None:
    """Set columns of a worker, in a write transaction, with the next change number."""
    number = int(projects.next_change(c, project).change_number)
    own = workers.c.project == project, workers.c.id == worker
    c.execute(update(workers).where(*own).values({**values, "change_number": number}))


def exclude(c: Connection, project: str, worker: int, state: str, **values: Any) -> None:
    """End the work of a worker in a write transaction: what they hold is returned, votes stay."""
    find(c, project, worker)
    row = projects.next_change(c, project, lease_requests=1)  # a choice of items made before is void
    held = votes.c.worker == worker, votes.c.state == LEASED
    c.execute(update(votes).where(*held).values(state=RETURNED, change_number=row.change_number))
    change(c, project, worker, state=state, **values)


def kinds(c: Connection, project: str) -> set[str]:
    """The kinds of workers that a project has."""
    return {
        row.kind for row in c.execute(select(workers.c.kind).where(workers.c.project == project).distinct())
    }


def admit_new(c: Connection, project: str, *, consent: str | None) -> None:
    """Let everybody begin whom nothing keeps from it now, in a write transaction: there is no quiz any more.

    `consent` is the version of the consent text to which they must have agreed; None if there is no text.
    """
    agreed = () if consent is None else (workers.c.consent == consent,)
    _change_all(c, project, workers.c.state == NEW, *agreed, state=ACTIVE)


def trust_guests(c: Connection, project: str, states: Sequence[str]) -> bool:
    """Count the votes of all guests in these states, in a write transaction; whether some did not count."""
    waiting = workers.c.guest, ~workers.c.trusted, workers.c.state.in_(states)
    return _change_all(c, project, *waiting, trusted=True)


def _change_all(c: Connection, project: str, *conditions: ColumnElement[bool], **values: Any) -> bool:
    """Set columns of all workers of a kind, with one change number; whether there are any."""
    own = workers.c.project == project, *conditions
    if c.execute(select(workers.c.id).where(*own).limit(1)).first() is None:
        return False
    number = int(projects.next_change(c, project).change_number)
    c.execute(update(workers).where(*own).values({**values, "change_number": number}))
    return True
