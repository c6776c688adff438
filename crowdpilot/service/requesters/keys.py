"""What is done to API keys, each with its entry in the log: a key never gives more than its maker has."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import Connection

from crowdpilot.service import access
from crowdpilot.service.access import Requester
from crowdpilot.service.errors import ForbiddenError, InvalidRequestError, NotFoundError
from crowdpilot.service.requesters import members
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log, keys

NO_KEY = "there is no such key, or it is revoked already"


def create(
    c: Connection, by: Requester, name: str, scope: str,
    *, member: str = "", projects: Sequence[str] | None = None, expires: float | None = None,
) -> str:  # fmt: skip
    """Make a key in a write transaction; returns it, for the only time.

    It has at most the scope and the time of the key or session that makes it: else a key that is limited, or
    stolen, would make one that is not.

    Parameters
    ----------
    c
        The transaction.
    by
        Who makes it.
    name, scope
        What it is for, and what it allows.
    member
        The name of its owner, for operators; if empty, it is who makes it.
    projects
        Ids of the only projects that it opens; if not given, all of its owner.
    expires
        When it expires, in seconds since 1970; if not given, when the maker's does.
    """
    check_may_manage(by)
    if scope not in keys.SCOPES:
        raise InvalidRequestError(f"there is no scope {scope!r}; there are {', '.join(keys.SCOPES)}")
    owner = _owner(c, by, member)
    for id in projects or ():
        access.check(c, by, id, access.READ)
    if expires is not None and expires <= time.time():
        raise InvalidRequestError("the key would have expired already; give a time in the future")
    only = None if projects is None else list(dict.fromkeys(projects))
    until = min((moment for moment in (expires, by.expires) if moment is not None), default=None)
    key = keys.create(c, owner.id, name, scope, projects=only, expires=until)
    detail = {"key": key.split("_")[1], "name": name, "scope": scope, "projects": only, "expires": until}
    action_log.write(c, by.actor, "create key", category=action_log.ACCESS, member=owner.name, **detail)
    return key


def check_may_manage(by: Requester) -> None:
    """Raise a `ForbiddenError` if scope or projects of a key or session do not let it manage keys."""
    access.check_scope(by, access.ADMIN)
    if by.projects is not None:
        raise ForbiddenError(
            "a key that is limited to projects makes and revokes no keys; use one that is not"
        )


def _owner(c: Connection, by: Requester, member: str) -> Row:
    if member not in ("", by.name) and not access.is_operator(by):
        raise ForbiddenError("only an operator makes keys for others; leave the member out for your own")
    return members.find_by_name(c, member or by.name)


def revoke(c: Connection, by: Requester, key: str) -> None:
    """Revoke a key, one's own or as an operator any, in a write transaction; its sessions end, too."""
    check_may_manage(by)
    if not keys.revoke(c, key, None if access.is_operator(by) else by.member):
        raise NotFoundError(NO_KEY)
    action_log.write(c, by.actor, "revoke key", category=action_log.ACCESS, key=key)


def list_visible(c: Connection, by: Requester, member: str = "") -> Sequence[Row]:
    """The own keys, or as an operator all, or those of the member of this name; the newest first."""
    check_may_manage(by)
    if member and member != by.name:
        access.check_operator(by)
        return keys.list_all(c, members.find_by_name(c, member).id)
    return keys.list_all(c, by.member if member or not access.is_operator(by) else None)
