"""Queries on invitations: links that admit workers, which expire, are used up or are revoked."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, or_, select, update

from crowdpilot.service.errors import ConflictError, ForbiddenError, NotFoundError, translatable
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import invitations, workers

MAX_USES = 1000  # new workers that a link for everybody admits unless it says otherwise
NOT_VALID = translatable("the invitation is not valid; ask for a new link")
REVOKED = translatable("the invitation was revoked; ask for a new link")
EXPIRED = translatable("the invitation has expired; ask for a new link")
USED_UP = translatable("as many people as the invitation admits have come already; ask for a new link")


def create(
    c: Connection, project: str, *, kind: str, worker: str = "", expires: float | None = None,
    max_uses: int | None = None,
) -> Row:  # fmt: skip
    """Insert an invitation of one worker by name, or of everybody who has it, in a write transaction."""
    limit = 1 if worker else MAX_USES if max_uses is None else max_uses
    new = {"id": secrets.token_hex(8), "project": project, "kind": kind, "worker": worker or None,
           "created": time.time(), "expires": expires, "max_uses": limit}  # fmt: skip
    return c.execute(insert(invitations).values(new).returning(*invitations.c)).one()


def find(c: Connection, project: str, id: str) -> Row:
    """The row of an invitation; `NotFoundError` if the project has none such."""
    row = c.execute(select(invitations).where(*_own(project, id))).first()
    if row is None:
        raise NotFoundError("there is no such invitation in this project")
    return row


def list_all(c: Connection, project: str) -> Sequence[Row]:
    """All invitations of a project, the oldest first."""
    own = select(invitations).where(invitations.c.project == project)
    return c.execute(own.order_by(invitations.c.created, invitations.c.id)).all()


def change(c: Connection, project: str, id: str, **values: Any) -> Row:
    """Set when an invitation expires, or how many it admits, in a write transaction; its row."""
    before = find(c, project, id)
    if before.revoked is not None:
        raise ConflictError("the invitation is revoked; create a new one")
    if before.worker is not None and "max_uses" in values:
        raise ConflictError("an invitation by name admits one worker; create one for everybody instead")
    c.execute(update(invitations).where(*_own(project, id)).values(values))
    return find(c, project, id)


def revoke(c: Connection, project: str, id: str) -> None:
    """Admit nobody by an invitation any more, in a write transaction; who has come stays."""
    find(c, project, id)
    still = *_own(project, id), invitations.c.revoked.is_(None)
    c.execute(update(invitations).where(*still).values(revoked=time.time()))


def admit(c: Connection, project: str, id: str, *, is_new: bool) -> None:
    """Admit a worker by an invitation, in a write transaction; one who is new counts as a use.

    `ForbiddenError` if it is revoked, has expired or is used up.
    """
    row = c.execute(select(invitations).where(*_own(project, id))).first()
    if row is None:
        raise ForbiddenError(NOT_VALID)
    if row.revoked is not None:
        raise ForbiddenError(REVOKED)
    if row.expires is not None and row.expires <= time.time():
        raise ForbiddenError(EXPIRED)
    if is_new:
        free = or_(invitations.c.max_uses.is_(None), invitations.c.uses < invitations.c.max_uses)
        more = update(invitations).where(*_own(project, id), free).values(uses=invitations.c.uses + 1)
        if c.execute(more).rowcount == 0:
            raise ForbiddenError(USED_UP)


def is_used_up(c: Connection, project: str, id: str) -> bool:
    """Whether an invitation that is valid otherwise has admitted as many new workers as it may."""
    row = find(c, project, id)
    in_time = row.revoked is None and (row.expires is None or row.expires > time.time())
    return in_time and row.max_uses is not None and row.uses >= row.max_uses


def is_open(row: Row, now: float | None = None) -> bool:
    """Whether an invitation admits new workers."""
    moment = time.time() if now is None else now
    in_time = row.expires is None or row.expires > moment
    return row.revoked is None and in_time and (row.max_uses is None or row.uses < row.max_uses)


def workers_by(c: Connection, project: str, id: str) -> list[int]:
    """Ids of the workers who came through an invitation, in the order of registration."""
    own = workers.c.project == project, workers.c.invitation == id
    return [row.id for row in c.execute(select(workers.c.id).where(*own).order_by(workers.c.id))]


def kinds(c: Connection, project: str) -> set[str]:
    """The kinds of workers whom the invitations of a project admit that are not revoked."""
    own = invitations.c.project == project, invitations.c.revoked.is_(None)
    return {row.kind for row in c.execute(select(invitations.c.kind).where(*own).distinct())}


def _own(project: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return invitations.c.project == project, invitations.c.id == id
