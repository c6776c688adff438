"""Queries on members, who request labels, and on their roles in projects."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence

from sqlalchemy import Connection, delete, insert, select, update

from crowdpilot.service.errors import ConflictError, NotFoundError
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.tables import api_keys, members, project_members, projects, requester_sessions

LOCAL = "local"  # the member as whom the link that is printed at the start signs in


def create(c: Connection, name: str, *, operator: bool = False, subject: str | None = None) -> Row:
    """Insert a member in a write transaction; `ConflictError` if there is one of this name."""
    if is_taken(c, name):
        raise ConflictError(f"there is a member called {name!r} already; choose another name")
    new = {"id": secrets.token_hex(6), "name": name, "operator": operator, "subject": subject,
           "created": time.time()}  # fmt: skip
    return c.execute(insert(members).values(new).returning(*members.c)).one()


def find_or_create(c: Connection, name: str, *, operator: bool = False) -> Row:
    """The member of this name, inserted if new, in a write transaction; made an operator if so given."""
    row = find_by_name(c, name) or create(c, name, operator=operator)
    if operator and not row.operator:
        set_operator(c, row.id, True)
    return row


def find(c: Connection, id: str) -> Row:
    """The row of a member, by the primary key; `NotFoundError` if there is none."""
    row = c.execute(select(members).where(members.c.id == id)).first()
    if row is None:
        raise NotFoundError("there is no such member")
    return row


def find_by_name(c: Connection, name: str) -> Row | None:
    """The member of this name who has not been removed; by the unique index on names."""
    return c.execute(select(members).where(members.c.name == name, members.c.removed.is_(None))).first()


def find_by_subject(c: Connection, subject: str) -> Row | None:
    """The member of this subject of OpenID Connect, also if removed; by the unique index on subjects."""
    return c.execute(select(members).where(members.c.subject == subject)).first()


def list_all(c: Connection) -> Sequence[Row]:
    """All members who have not been removed, by name."""
    return c.execute(select(members).where(members.c.removed.is_(None)).order_by(members.c.name)).all()


def set_operator(c: Connection, id: str, operator: bool) -> None:
    """Make a member an operator, or not any more, in a write transaction."""
    c.execute(update(members).where(members.c.id == id).values(operator=operator))


def set_subject(c: Connection, id: str, subject: str) -> None:
    """Write down the subject of OpenID Connect of a member, in a write transaction."""
    c.execute(update(members).where(members.c.id == id).values(subject=subject))


def is_taken(c: Connection, name: str) -> bool:
    """Whether there is a member of this name."""
    return c.execute(select(members.c.id).where(members.c.name == name)).first() is not None


def lock_operators(c: Connection) -> Sequence[Row]:
    """All operators, whose rows are locked until the end of a write transaction."""
    operators = members.c.operator, members.c.removed.is_(None)
    return c.execute(select(members).where(*operators).with_for_update()).all()


def remove(c: Connection, id: str) -> bool:
    """Remove a member in a write transaction: keys and sessions end; whether there was one."""
    now = time.time()
    there = members.c.id == id, members.c.removed.is_(None)
    values = {"removed": now, "name": f"removed {secrets.token_hex(6)}", "operator": False}
    if not c.execute(update(members).where(*there).values(values)).rowcount:
        return False
    own = api_keys.c.member == id, api_keys.c.revoked.is_(None)
    c.execute(update(api_keys).where(*own).values(revoked=now))
    sessions = requester_sessions.c.member == id, requester_sessions.c.ended.is_(None)
    c.execute(update(requester_sessions).where(*sessions).values(ended=now))
    c.execute(delete(project_members).where(project_members.c.member == id))
    return True


# Roles, by the primary key on (project, member)


def role(c: Connection, project: str, member: str) -> str | None:
    """The role of a member in a project; None if they have none."""
    own = project_members.c.project == project, project_members.c.member == member
    return c.execute(select(project_members.c.role).where(*own)).scalar()


def set_role(c: Connection, project: str, member: str, role: str | None) -> None:
    """Give a member a role in a project, or none, in a write transaction."""
    own = project_members.c.project == project, project_members.c.member == member
    c.execute(delete(project_members).where(*own))
    if role is not None:
        c.execute(insert(project_members).values(project=project, member=member, role=role))


def list_of_project(c: Connection, project: str) -> Sequence[Row]:
    """Id, name and role of the members of a project, by name."""
    joined = project_members.join(members, members.c.id == project_members.c.member)
    columns = members.c.id, members.c.name, project_members.c.role
    own = project_members.c.project == project
    return c.execute(select(*columns).select_from(joined).where(own).order_by(members.c.name)).all()


def roles(c: Connection) -> Sequence[Row]:
    """All roles: project, its name, member and role, by the names of the projects."""
    joined = project_members.join(projects, projects.c.id == project_members.c.project)
    columns = *project_members.c, projects.c.name
    return c.execute(select(*columns).select_from(joined).order_by(projects.c.name)).all()


def projects_of(c: Connection, member: str) -> set[str]:
    """Ids of the projects in which a member has a role."""
    own = project_members.c.member == member
    return {row.project for row in c.execute(select(project_members.c.project).where(own))}
