"""Queries on the sessions of requesters, which end on the server when somebody signs out."""

from __future__ import annotations

import secrets
import time

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.errors import ForbiddenError
from crowdpilot.service.signing import digest
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import members, requester_sessions

LINK_USED = "this link has been used; start the service again for a new one"


def start(c: Connection, member: str, *, key: str | None = None, link: str | None = None) -> str:
    """Insert a session in a write transaction; returns its id, of which a digest is stored.

    `ForbiddenError` if the link with this digest has signed in before.
    """
    id = secrets.token_hex(16)
    new = {"id": digest(id), "member": member, "key": key, "link": link, "created": time.time()}
    try:
        with c.begin_nested():
            c.execute(insert(requester_sessions).values(new))
    except IntegrityError:
        raise ForbiddenError(LINK_USED) from None
    return id


def find(c: Connection, id: str, max_age_seconds: float) -> Row | None:
    """The row of a session that has not ended, with `name` and `operator` of its member."""
    joined = requester_sessions.join(members, members.c.id == requester_sessions.c.member)
    columns = *requester_sessions.c, members.c.name, members.c.operator
    valid = (
        requester_sessions.c.id == digest(id), requester_sessions.c.ended.is_(None),
        requester_sessions.c.created > time.time() - max_age_seconds, members.c.removed.is_(None),
    )  # fmt: skip
    return c.execute(select(*columns).select_from(joined).where(*valid)).first()


def end(c: Connection, id: str) -> None:
    """End a session in a write transaction."""
    c.execute(
        update(requester_sessions).where(requester_sessions.c.id == digest(id)).values(ended=time.time())
    )


def end_all(c: Connection) -> None:
    """End all sessions in a write transaction, such as after a restore, which would revive ended ones."""
    c.execute(
        update(requester_sessions).where(requester_sessions.c.ended.is_(None)).values(ended=time.time())
    )
