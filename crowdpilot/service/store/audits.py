"""Audits: one for each project, with the decisions that it is about."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import audits


def read(c: Connection, project: str) -> Record | None:
    """The audit of a project, if one has begun."""
    return c.execute(select(audits).where(audits.c.project == project)).first()


def write(c: Connection, project: str, data: dict[str, Any], before: int) -> bool:
    """Keep an audit that was read at this number, 0 if there was none; False if somebody was faster."""
    if before:
        mine = audits.c.project == project, audits.c.at == before
        return c.execute(update(audits).where(*mine).values(data=data, at=before + 1)).rowcount > 0
    try:
        with c.begin_nested():
            c.execute(insert(audits).values(project=project, data=data, at=1))
    except IntegrityError:
        return False
    return True


def remove(c: Connection, project: str) -> bool:
    """Forget an audit; whether there was one."""
    return c.execute(delete(audits).where(audits.c.project == project)).rowcount > 0
