"""Queries on API keys, which belong to members and of which only digests are stored."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select, update

from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.signing import digest, is_same, new_key
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import members as members_store
from crowdpilot.service.store.tables import api_keys, members

SCOPES = ("read", "label-ops", "write", "admin")  # each allows what those before it allow
LOCAL = members_store.LOCAL  # name of a key that nobody has seen, but that can be revoked
USE_SECONDS = 60.0  # the last use of a key is written down at most this often
NOT_VALID = "the API key is not valid; make one with crowdpilot keys create"

_WITH_MEMBER = (
    *api_keys.c,
    members.c.name.label("member_name"),
    members.c.operator,
    members.c.removed,
)


def create(
    c: Connection, member: str, name: str, scope: str,
    *, projects: Sequence[str] | None = None, expires: float | None = None,
) -> str:  # fmt: skip
    """Insert a key in a write transaction; returns it, for the only time.

    Parameters
    ----------
    c
        The transaction.
    member
        The id of its owner.
    name
        What it is for.
    scope
        One of `SCOPES`.
    projects
        Ids of the only projects that it opens; if not given, all of its owner.
    expires
        When it expires, in seconds since 1970; if not given, never.
    """
    if scope not in SCOPES:
        raise ValueError(f"there is no scope {scope!r}; there are {', '.join(SCOPES)}")
    key, id = new_key()
    new = {"id": id, "member": member, "digest": digest(key), "name": name, "scope": scope,
           "projects": None if projects is None else list(projects), "expires": expires,
           "created": time.time()}  # fmt: skip
    c.execute(insert(api_keys).values(new))
    return key


def local_key_id(c: Connection) -> str:
    """The id of the key with which the link signs in that is printed at the start, in a write transaction."""
    usable = api_keys.c.name == LOCAL, api_keys.c.revoked.is_(None)
    row = c.execute(select(api_keys.c.id).where(*usable)).first()
    if row is not None:
        return str(row.id)
    owner = members_store.find_or_create(c, LOCAL, operator=True)
    return create(c, owner.id, LOCAL, "admin").split("_")[1]


def find(c: Connection, key: str) -> Row:
    """The row of a key that is shown, with `member_name` and `operator`; by the primary key.

    `AuthenticationError` if it is not valid, revoked or expired, or its owner is removed.
    """
    parts = key.split("_", 2)
    row = find_by_id(c, parts[1]) if len(parts) == 3 else None
    if not is_same(digest(key), "" if row is None else row.digest) or row is None:
        raise AuthenticationError(NOT_VALID)
    return row


def find_by_id(c: Connection, id: str) -> Row | None:
    """The row of a key that may be used now, with `member_name` and `operator`; None if there is none."""
    joined = api_keys.join(members, members.c.id == api_keys.c.member)
    row = c.execute(select(*_WITH_MEMBER).select_from(joined).where(api_keys.c.id == id)).first()
    if row is None or row.revoked is not None or row.removed is not None:
        return None
    return None if row.expires is not None and row.expires <= time.time() else row


def known_id(c: Connection, key: str) -> str | None:
    """The id in a text that may be a key, if there is or was a key with it."""
    parts = key.split("_", 2)
    if len(parts) < 3 or not parts[1].isalnum():
        return None
    return c.execute(select(api_keys.c.id).where(api_keys.c.id == parts[1])).scalar()


def record_use(c: Connection, id: str) -> None:
    """Write down that a key was used now, in a write transaction."""
    c.execute(update(api_keys).where(api_keys.c.id == id).values(used=time.time()))


def revoke(c: Connection, id: str, member: str | None = None) -> bool:
    """Revoke a key, of this member if given, in a write transaction; whether there was a valid one."""
    valid = [api_keys.c.id == id, api_keys.c.revoked.is_(None)]
    valid += [] if member is None else [api_keys.c.member == member]
    return c.execute(update(api_keys).where(*valid).values(revoked=time.time())).rowcount > 0


def list_all(c: Connection, member: str | None = None) -> Sequence[Row]:
    """All keys, or those of a member, with `member_name`, the newest first."""
    joined = api_keys.join(members, members.c.id == api_keys.c.member)
    query = select(*_WITH_MEMBER).select_from(joined).order_by(api_keys.c.created.desc())
    return c.execute(query if member is None else query.where(api_keys.c.member == member)).all()


def any_valid(c: Connection) -> bool:
    """Whether there is a valid key that somebody may have."""
    valid = api_keys.c.revoked.is_(None), api_keys.c.name != LOCAL
    return c.execute(select(func.count()).select_from(api_keys).where(*valid)).scalar_one() > 0
