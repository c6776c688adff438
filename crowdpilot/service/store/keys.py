"""Keys of requesters, of which only digests are kept; and the log of who did what."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from crowdpilot.service.errors import AuthenticationError
from crowdpilot.service.signing import digest, is_same, new_key
from crowdpilot.service.store.row import Record
from crowdpilot.service.store.tables import keys, log

LOCAL = "local"  # nobody has it, but it can be revoked
SCOPES = ("read", "write", "admin")  # each allows what those before it allow


def create(c: Connection, name: str, scope: str) -> str:
    """A new key, which nobody can see again."""
    if scope not in SCOPES:
        raise ValueError(f"there is no scope {scope!r}; there are {', '.join(SCOPES)}")
    key, id = new_key()
    scopes = list(SCOPES[: SCOPES.index(scope) + 1])
    c.execute(insert(keys).values(id=id, digest=digest(key), name=name, scopes=scopes, created=time.time()))
    return key


def local(c: Connection) -> str:
    """The id of the key with which links sign in that are printed where the service is started."""
    row = c.execute(select(keys.c.id).where(keys.c.name == LOCAL, keys.c.revoked.is_(None))).first()
    return str(row.id) if row is not None else create(c, LOCAL, "admin").split("_")[1]


def find(c: Connection, key: str) -> Record:
    """The key that somebody shows; refused with 401 if there is none such."""
    parts = key.split("_", 2)
    row = c.execute(select(keys).where(keys.c.id == parts[1])).first() if len(parts) == 3 else None
    if not is_same(digest(key), "" if row is None else row.digest) or row is None or row.revoked is not None:
        raise AuthenticationError("the API key is not valid; make one with crowdpilot keys create")
    return row


def revoke(c: Connection, id: str) -> bool:
    """A key is good no more; whether there was one."""
    good = keys.c.id == id, keys.c.revoked.is_(None)
    return c.execute(update(keys).where(*good).values(revoked=time.time())).rowcount > 0


def listed(c: Connection) -> Sequence[Record]:
    """All keys, the newest first."""
    return c.execute(select(keys).order_by(keys.c.created.desc())).all()


def any_good(c: Connection) -> bool:
    """Whether there is a key that somebody has."""
    good = keys.c.revoked.is_(None), keys.c.name != LOCAL
    return c.execute(select(func.count()).where(*good)).scalar_one() > 0


def note(c: Connection, who: str, what: str, project: str | None = None, **detail: Any) -> None:
    """Write down who did what."""
    c.execute(insert(log).values(time=time.time(), who=who, what=what, project=project, detail=detail))


def noted(c: Connection, project: str, n: int = 100) -> Sequence[Record]:
    """What was done to a project, the newest first."""
    return c.execute(select(log).where(log.c.project == project).order_by(log.c.id.desc()).limit(n)).all()
