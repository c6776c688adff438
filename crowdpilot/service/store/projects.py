"""Queries on projects: descriptions, states, and the change number that orders all writes to a project."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update

from crowdpilot.service.errors import NotFoundError, translatable
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import projects

OPEN, PAUSED, CLOSED, DELETED = "open", "paused", "closed", "deleted"
NO_PROJECT = translatable("there is no such project; check its address")


def create(c: Connection, spec: dict[str, Any]) -> str:
    """Insert a project, open and without items, in a write transaction; returns its id."""
    id = secrets.token_hex(6)
    new = {"id": id, "name": spec["name"], "spec": spec, "state": OPEN, "created": time.time()}
    c.execute(insert(projects).values(new))
    return id


def find(c: Connection, project: str) -> Row:
    """The row of a project, by the primary key; `NotFoundError` if there is none."""
    there = projects.c.id == project, projects.c.state != DELETED
    row = c.execute(select(projects).where(*there)).first()
    if row is None:
        raise NotFoundError(NO_PROJECT)
    return row


def list_all(c: Connection) -> Sequence[Row]:
    """All projects, the newest first."""
    there = select(projects).where(projects.c.state != DELETED)
    return c.execute(there.order_by(projects.c.created.desc())).all()


def next_change(c: Connection, project: str, **increments: int) -> Row:
    """Take the next change number and add to counters, in a write transaction; returns the counters.

    The row is locked until the commit, so that writes to one project follow each other; `change_number=0`
    locks it without a new number.
    """
    values = {name: projects.c[name] + n for name, n in {"change_number": 1, **increments}.items()}
    changed = update(projects).where(projects.c.id == project, projects.c.state != DELETED).values(values)
    columns = projects.c.change_number, projects.c.state, projects.c.votes, projects.c.fitted
    row = c.execute(changed.returning(*columns)).first()
    if row is None:
        raise NotFoundError(NO_PROJECT)
    return row


def lock(c: Connection, project: str) -> int:
    """Lock the row of a project until the commit, in a write transaction; the number of its settings."""
    there = projects.c.id == project, projects.c.state != DELETED
    row = c.execute(select(projects.c.spec_number).where(*there).with_for_update()).first()
    if row is None:
        raise NotFoundError(NO_PROJECT)
    return int(row.spec_number)


def claim_lease_requests(c: Connection, project: str, expected: int, n: int = 1) -> int | None:
    """Compare and set: count `n` lease requests more if there were `expected`, in a write transaction.

    Returns the next change number; None if another process has leased items since.
    """
    unchanged = projects.c.id == project, projects.c.lease_requests == expected
    values = {"change_number": projects.c.change_number + 1, "lease_requests": expected + n}
    changed = update(projects).where(*unchanged).values(values).returning(projects.c.change_number)
    row = c.execute(changed).first()
    return None if row is None else int(row.change_number)


def change(c: Connection, project: str, **values: Any) -> None:
    """Set columns of a project, in a write transaction; the change number stays."""
    c.execute(update(projects).where(projects.c.id == project).values(values))
