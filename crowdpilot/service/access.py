"""Access: what a requester may do in a project, by the scope of their key and their role."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from crowdpilot.service.errors import ForbiddenError, NotFoundError
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import members
from crowdpilot.service.store.requesters.keys import SCOPES

READ, LABEL_OPS, WRITE, ADMIN = SCOPES


class Requester(NamedTuple):
    """Somebody who requests labels: a member with a key, or one who is signed in.

    Parameters
    ----------
    member, name
        The id and the name of the member.
    operator
        Whether the member has every role in every project.
    scope
        The most that this key or session allows.
    projects
        Ids of the only projects that it opens; None for all of the member.
    actor
        What the log of actions calls them: the id of the key, or of the member.
    expires
        When the key expires, in seconds since 1970; None for never.
    """

    member: str
    name: str
    operator: bool
    scope: str
    projects: tuple[str, ...] | None
    actor: str
    expires: float | None = None

    def has(self, scope: str) -> bool:
        """Whether the key or session allows this, in some project."""
        return allows(self.scope, scope)


def requester_of_key(key: Row) -> Requester:
    """The owner of a key, from its row."""
    only = None if key.projects is None else tuple(key.projects)
    return Requester(key.member, key.member_name, key.operator, key.scope, only, key.id, key.expires)


def allows(held: str, scope: str) -> bool:
    """Whether one scope includes another.

    Examples
    --------
    >>> allows("write", "label-ops"), allows("read", "write")
    (True, False)
    """
    return SCOPES.index(held) >= SCOPES.index(scope)


def right_in(c: Connection, requester: Requester, project: str) -> str | None:
    """The most that a requester may do in a project, a scope; None if it is not theirs."""
    if requester.projects is not None and project not in requester.projects:
        return None
    role = ADMIN if requester.operator else members.role(c, project, requester.member)
    return None if role is None else min(role, requester.scope, key=SCOPES.index)


def check(c: Connection, requester: Requester, project: str, scope: str) -> str:
    """What a requester may do in a project.

    Raises
    ------
    NotFoundError
        The project does not exist, or is not theirs: they are not told which.
    ForbiddenError
        It is, but they may not do this.
    """
    projects.find(c, project)
    right = right_in(c, requester, project)
    if right is None:
        raise NotFoundError(projects.NO_PROJECT)
    if not allows(right, scope):
        raise ForbiddenError(
            f"you may {right} in this project, which does not include {scope}; ask its owner"
        )
    return right


def check_scope(requester: Requester, scope: str) -> None:
    """Raise a `ForbiddenError` if a key or session does not allow this anywhere."""
    if not requester.has(scope):
        raise ForbiddenError(
            f"the API key has the scope {requester.scope}, and this needs {scope}; use one that has it"
        )


def is_operator(requester: Requester) -> bool:
    """Whether somebody may administer the whole service with this key or session."""
    return requester.operator and requester.has(ADMIN) and requester.projects is None


def check_operator(requester: Requester) -> None:
    """Raise a `ForbiddenError` unless somebody may administer the whole service."""
    if not is_operator(requester):
        raise ForbiddenError("only an operator of the service may do this; ask one")


def check_may_create(requester: Requester) -> None:
    """Raise a `ForbiddenError` if a requester may not create projects."""
    check_scope(requester, WRITE)
    if requester.projects is not None:
        raise ForbiddenError("the key is limited to other projects; use one that is not")


def list_projects(c: Connection, requester: Requester, *, archived: bool | None = False) -> Sequence[Row]:
    """The projects of a requester, the newest first; those in the archive, the others, or all (None)."""
    every = projects.list_all(c)
    rows = every if archived is None else [row for row in every if (row.archived is not None) == archived]
    if not requester.operator:
        own = members.projects_of(c, requester.member)
        rows = [row for row in rows if row.id in own]
    return rows if requester.projects is None else [row for row in rows if row.id in requester.projects]
