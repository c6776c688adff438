"""Queries on what was created on Prolific for a project: studies and bonuses, each once for a token."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select, update

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import prolific_bonuses as bonuses
from crowdpilot.service.store.tables import prolific_studies as studies

NEW, PAYING, PAID = "new", "paying", "paid"  # of a bonus


def find(c: Connection, project: str, study: str) -> Row:
    """The row of a study; `NotFoundError` if it was not created for this project."""
    row = c.execute(select(studies).where(studies.c.project == project, studies.c.study == study)).first()
    if row is None:
        raise NotFoundError("there is no such study in this project")
    return row


def find_by_token(c: Connection, project: str, token: str) -> Row:
    """The row of the study that a request with this token creates."""
    return c.execute(select(studies).where(studies.c.project == project, studies.c.token == token)).one()


def list_all(c: Connection, project: str) -> Sequence[Row]:
    """All studies of a project that are on Prolific, the newest first."""
    own = select(studies).where(studies.c.project == project, studies.c.study.is_not(None))
    return c.execute(own.order_by(studies.c.created.desc(), studies.c.token)).all()


def claim(c: Connection, project: str, token: str, **values: Any) -> Row | None:
    """The study that a request with this token began to create, in a write transaction; None if it is new."""
    own = studies.c.project == project, studies.c.token == token
    row = c.execute(select(studies).where(*own)).first()
    if row is None:
        now = time.time()
        c.execute(insert(studies).values(project=project, token=token, created=now, begun=now, **values))
    return row


def take_over(c: Connection, row: Row) -> bool:
    """Begin to create a study that was not finished, in a write transaction; False if another does it."""
    own = studies.c.project == row.project, studies.c.token == row.token, studies.c.begun == row.begun
    unfinished = update(studies).where(*own, studies.c.study.is_(None))
    return c.execute(unfinished.values(begun=time.time())).rowcount == 1


def change(c: Connection, project: str, token: str, **values: Any) -> None:
    """Set columns of a study, in a write transaction."""
    own = studies.c.project == project, studies.c.token == token
    c.execute(update(studies).where(*own).values(values))


def claim_bonus(c: Connection, project: str, token: str, *, study: str, submission: str, amount: str) -> Row:
    """The bonus of a request with this token, in a write transaction; a new one if there is none."""
    own = select(bonuses).where(bonuses.c.project == project, bonuses.c.token == token)
    row = c.execute(own).first()
    if row is None:
        values = {"study": study, "submission": submission, "amount": amount}
        new = {"project": project, "token": token, "state": NEW, "created": time.time()}
        c.execute(insert(bonuses).values(**new, **values))
        row = c.execute(own).one()
    return row


def move_bonus(c: Connection, project: str, token: str, before: str, after: str, **values: Any) -> bool:
    """Move a bonus from one state to another, in a write transaction; False if it is in another state."""
    own = bonuses.c.project == project, bonuses.c.token == token, bonuses.c.state == before
    return c.execute(update(bonuses).where(*own).values(state=after, **values)).rowcount == 1
