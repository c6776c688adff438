"""What is done to members and their roles in projects, each with its entry in the log."""

from __future__ import annotations

from sqlalchemy import Connection

from crowdpilot.service import access
from crowdpilot.service.access import Requester
from crowdpilot.service.errors import ConflictError, ForbiddenError, InvalidRequestError, NotFoundError
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log, members
from crowdpilot.service.store.requesters.keys import SCOPES

COMMAND_LINE = Requester("", action_log.COMMAND_LINE, True, access.ADMIN, None, action_log.COMMAND_LINE)
RESERVED_NAMES = (members.LOCAL, action_log.COMMAND_LINE)  # who has them is an operator
NO_MEMBER = "there is no member called {!r}; an operator adds them first"
LAST_ADMIN = "this is the last admin of the project; make somebody else admin first"
LAST_OPERATOR = "this is the last operator of the service; make somebody else operator first"


# Roles in a project


def set_role(c: Connection, by: Requester, project: str, name: str, role: str) -> Row:
    """Give the member of this name a role in a project, in a write transaction; id, name and role.

    Nobody gives more than they have, and a project keeps one admin.
    """
    right = access.check(c, by, project, access.ADMIN)
    if role not in SCOPES:
        raise InvalidRequestError(f"there is no role {role!r}; there are {', '.join(SCOPES)}")
    if not access.allows(right, role):
        raise ForbiddenError(f"you may {right} in this project, and cannot give {role}")
    member = find_by_name(c, name)
    if role != access.ADMIN:
        _check_not_last_admin(c, project, member.id)
    members.set_role(c, project, member.id, role)
    _log(c, by, "set role", project, member=name, role=role)
    return next(row for row in members.list_of_project(c, project) if row.id == member.id)


def remove_from_project(c: Connection, by: Requester, project: str, member: str) -> None:
    """Take the role in a project from a member, in a write transaction; a project keeps one admin."""
    access.check(c, by, project, access.ADMIN)
    if members.role(c, project, member) is None:
        raise NotFoundError("there is no such member in this project")
    _check_not_last_admin(c, project, member)
    name = members.find(c, member).name
    members.set_role(c, project, member, None)
    _log(c, by, "remove from project", project, member=name)


def _check_not_last_admin(c: Connection, project: str, member: str) -> None:
    projects.next_change(c, project, change_number=0)  # a lock: of two who remove each other, one waits
    admins = {row.id for row in members.list_of_project(c, project) if row.role == access.ADMIN}
    if admins == {member}:
        raise ConflictError(LAST_ADMIN)


# Members of the service


def add(c: Connection, by: Requester, name: str, *, operator: bool = False) -> Row:
    """Add a member, in a write transaction; the row."""
    access.check_operator(by)
    check_name(name)
    row = members.create(c, name, operator=operator)
    _log(c, by, "add member", None, member=name, operator=operator)
    return row


def check_name(name: str) -> None:
    """Raise a `ConflictError` for a name that is kept for the service itself."""
    if name in RESERVED_NAMES:
        raise ConflictError(f"the name {name!r} is kept for the service itself; choose another")


def set_operator(c: Connection, by: Requester, member: str, operator: bool) -> Row:
    """Make a member an operator, or not any more, in a write transaction; the row. One operator stays."""
    access.check_operator(by)
    row = _find(c, member)
    if not operator:
        _check_not_last_operator(c, row)
    members.set_operator(c, member, operator)
    _log(c, by, "make operator" if operator else "no more operator", None, member=row.name)
    return members.find(c, member)


def remove(c: Connection, by: Requester, member: str) -> None:
    """Remove a member: their keys and sessions end at once, in a write transaction. One operator stays.

    A project whose only admin they were is left to the operators, who are admins everywhere.
    """
    access.check_operator(by)
    row = _find(c, member)
    _check_not_last_operator(c, row)
    members.remove(c, member)
    _log(c, by, "remove member", None, member=row.name)


def _check_not_last_operator(c: Connection, row: Row) -> None:
    if row.operator and {one.id for one in members.lock_operators(c)} == {row.id}:
        raise ConflictError(LAST_OPERATOR)


def find_by_name(c: Connection, name: str) -> Row:
    """The member of this name; `NotFoundError` if there is none."""
    row = members.find_by_name(c, name)
    if row is None:
        raise NotFoundError(NO_MEMBER.format(name[:200]))
    return row


def _find(c: Connection, member: str) -> Row:
    row = members.find(c, member)
    if row.removed is not None:
        raise NotFoundError("there is no such member")
    return row


def _log(c: Connection, by: Requester, action: str, project: str | None, /, **detail: object) -> None:
    action_log.write(c, by.actor, action, project, category=action_log.ACCESS, **detail)
