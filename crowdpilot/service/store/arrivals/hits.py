"""Queries on HITs: those that were created on Mechanical Turk for a project."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import hits


def add(c: Connection, project: str, id: str, **values: Any) -> bool:
    """Insert a HIT, in a write transaction; False if it is known already."""
    if c.execute(select(hits.c.id).where(hits.c.id == id)).first() is not None:
        return False
    c.execute(insert(hits).values(id=id, project=project, created=time.time(), **values))
    return True


def find(c: Connection, project: str, id: str) -> Row:
    """The row of a HIT; `NotFoundError` if the project has none such."""
    row = c.execute(select(hits).where(*_own(project, id))).first()
    if row is None:
        raise NotFoundError("there is no such HIT in this project")
    return row


def list_all(c: Connection, project: str) -> Sequence[Row]:
    """All HITs of a project, the newest first."""
    own = select(hits).where(hits.c.project == project)
    return c.execute(own.order_by(hits.c.created.desc(), hits.c.id)).all()


def change(c: Connection, project: str, id: str, **values: Any) -> None:
    """Set columns of a HIT, in a write transaction."""
    c.execute(update(hits).where(*_own(project, id)).values(values))


def _own(project: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return hits.c.project == project, hits.c.id == id
