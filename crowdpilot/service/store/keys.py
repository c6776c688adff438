"""Queries on API keys, of which only digests are stored, and on the log of who did what."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.signing import digest, is_same, new_key
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import action_log, api_keys

LOCAL = "local"  # name of a key that nobody has seen, but that can be revoked
SCOPES = ("read", "write", "admin")  # each allows what those before it allow
SIGN_IN_BY_LINK = "sign in by link"  # an action in the log


def create(c: Connection, name: str, scope: str) -> str:
    """Insert a key in a write transaction; returns it, for the only time."""
    if scope not in SCOPES:
        raise ValueError(f"there is no scope {scope!r}; there are {', '.join(SCOPES)}")
    key, id = new_key()
    scopes = list(SCOPES[: SCOPES.index(scope) + 1])
    new = {"id": id, "digest": digest(key), "name": name, "scopes": scopes, "created": time.time()}
    c.execute(insert(api_keys).values(new))
    return key


def local_key_id(c: Connection) -> str:
    """The id of the key with which the link signs in that is printed at the start, in a write transaction."""
    usable = api_keys.c.name == LOCAL, api_keys.c.revoked.is_(None)
    row = c.execute(select(api_keys.c.id).where(*usable)).first()
    return str(row.id) if row is not None else create(c, LOCAL, "admin").split("_")[1]


def find(c: Connection, key: str) -> Row:
    """The row of a key that is shown, by the primary key; `AuthenticationError` if it is not valid."""
    parts = key.split("_", 2)
    row = c.execute(select(api_keys).where(api_keys.c.id == parts[1])).first() if len(parts) == 3 else None
    if not is_same(digest(key), "" if row is None else row.digest) or row is None or row.revoked is not None:
        raise AuthenticationError("the API key is not valid; make one with crowdpilot keys create")
    return row


def revoke(c: Connection, id: str) -> bool:
    """Revoke a key in a write transaction; whether there was a valid one."""
    valid = api_keys.c.id == id, api_keys.c.revoked.is_(None)
    return c.execute(update(api_keys).where(*valid).values(revoked=time.time())).rowcount > 0


def list_all(c: Connection) -> Sequence[Row]:
    """All keys, the newest first."""
    return c.execute(select(api_keys).order_by(api_keys.c.created.desc())).all()


def any_valid(c: Connection) -> bool:
    """Whether there is a valid key that somebody may have."""
    valid = api_keys.c.revoked.is_(None), api_keys.c.name != LOCAL
    return c.execute(select(func.count()).where(*valid)).scalar_one() > 0


# The log of actions


def log_action(c: Connection, actor: str, action: str, project: str | None = None, **detail: Any) -> None:
    """Write down who did what, in the write transaction that does it."""
    new = {"time": time.time(), "actor": actor, "action": action, "project": project, "detail": detail}
    c.execute(insert(action_log).values(new))


def logged_actions(c: Connection, project: str, n: int = 100) -> Sequence[Row]:
    """The last actions on a project, the newest first."""
    query = select(action_log).where(action_log.c.project == project)
    return c.execute(query.order_by(action_log.c.id.desc()).limit(n)).all()


def is_link_used(c: Connection, key: str, link: str) -> bool:
    """Whether a sign-in link of a key has been used."""
    own = action_log.c.actor == key, action_log.c.action == SIGN_IN_BY_LINK
    return any(row.detail.get("link") == link for row in c.execute(select(action_log.c.detail).where(*own)))
