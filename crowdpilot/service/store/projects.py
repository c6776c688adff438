"""Projects: what was asked for, how far it is, and the clock that numbers every change."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import projects

OPEN, PAUSED, CLOSED = "open", "paused", "closed"


def create(c: Connection, spec: dict[str, Any]) -> str:
    """A new project, open and empty; its id."""
    id = secrets.token_hex(6)
    new = {"id": id, "name": spec["name"], "spec": spec, "state": OPEN, "created": time.time()}
    c.execute(insert(projects).values(new))
    return id


def find(c: Connection, project: str) -> Record:
    """A project; refused with 404 if there is none."""
    row = c.execute(select(projects).where(projects.c.id == project)).first()
    if row is None:
        raise NotFoundError("there is no such project; check its address")
    return row


def listed(c: Connection) -> Sequence[Record]:
    """All projects, the newest first."""
    return c.execute(select(projects).order_by(projects.c.created.desc())).all()


def tick(c: Connection, project: str, **more: int) -> Record:
    """The next number of the clock, and more to add to the project; nobody else writes until commit."""
    added = {name: projects.c[name] + n for name, n in {"clock": 1, **more}.items()}
    changed = update(projects).where(projects.c.id == project).values(added)
    columns = projects.c.clock, projects.c.state, projects.c.votes, projects.c.fitted
    row = c.execute(changed.returning(*columns)).first()
    if row is None:
        raise NotFoundError("there is no such project; check its address")
    return row


def claim(c: Connection, project: str, asked: int, times: int = 1) -> int | None:
    """The next number of the clock, if items were lent so many times before; None if somebody was faster."""
    turn = update(projects).where(projects.c.id == project, projects.c.asked == asked)
    row = c.execute(
        turn.values(clock=projects.c.clock + 1, asked=asked + times).returning(projects.c.clock)
    ).first()
    return None if row is None else int(row.clock)


def put(c: Connection, project: str, **values: Any) -> None:
    """Change what is said of a project."""
    c.execute(update(projects).where(projects.c.id == project).values(values))


def remove(c: Connection, project: str) -> None:
    """Delete a project with everything in it."""
    c.execute(delete(projects).where(projects.c.id == project))
