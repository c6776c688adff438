"""Routes about members: their roles in a project, for its admins, and of the service, for operators."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel

from crowdpilot.service.http.auth import Admin, Operator, ProjectId, StoreOf
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.requesters import members
from crowdpilot.service.schemas import Name, Strict
from crowdpilot.service.store.requesters import members as members_store

routes = APIRouter(prefix="/api", tags=["members"], responses=ERRORS)
Role = Literal["read", "label-ops", "write", "admin"]
MemberId = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]


class RoleIn(Strict):
    """A member by name, and what they may do in the project."""

    name: Name
    role: Role


class RoleOut(BaseModel):
    """What a member may do in a project."""

    id: str
    name: str
    role: str


class RolesOut(BaseModel):
    """The members of a project, by name."""

    members: list[RoleOut]


class MemberIn(Strict):
    """A new member; an operator sees and may change everything."""

    name: Name
    operator: bool = False


class OperatorIn(Strict):
    """Whether a member is an operator."""

    operator: bool


class MemberOut(BaseModel):
    """A member of the service."""

    id: str
    name: str
    operator: bool
    created: float


class MembersOut(BaseModel):
    """The members of the service, by name."""

    members: list[MemberOut]


# Of a project


@routes.get("/projects/{id}/members")
def get_roles(id: ProjectId, store: StoreOf, requester: Admin) -> RolesOut:
    """The members of a project and what they may do in it; operators may do everything besides."""
    with store.reading() as c:
        rows = members_store.list_of_project(c, id)
    return RolesOut(members=[RoleOut.model_validate(row._mapping) for row in rows])


@routes.post("/projects/{id}/members")
def post_role(id: ProjectId, body: RoleIn, store: StoreOf, requester: Admin) -> RoleOut:
    """Give a member a role in a project, or another one; a project keeps one admin."""
    with store.writing() as c:
        row = members.set_role(c, requester, id, body.name, body.role)
    return RoleOut.model_validate(row._mapping)


@routes.delete("/projects/{id}/members/{member}", status_code=204)
def delete_role(id: ProjectId, member: MemberId, store: StoreOf, requester: Admin) -> None:
    """Take a member out of a project, whose keys then open it no more; a project keeps one admin."""
    with store.writing() as c:
        members.remove_from_project(c, requester, id, member)


# Of the service


@routes.get("/members")
def get_members(store: StoreOf, requester: Operator) -> MembersOut:
    """All members; for operators."""
    with store.reading() as c:
        rows = members_store.list_all(c)
    return MembersOut(members=[MemberOut.model_validate(row._mapping) for row in rows])


@routes.post("/members", status_code=201)
def post_member(body: MemberIn, store: StoreOf, requester: Operator) -> MemberOut:
    """Add a member, who has no project yet; for operators."""
    with store.writing() as c:
        row = members.add(c, requester, body.name, operator=body.operator)
    return MemberOut.model_validate(row._mapping)


@routes.patch("/members/{member}")
def patch_member(member: MemberId, body: OperatorIn, store: StoreOf, requester: Operator) -> MemberOut:
    """Make a member an operator, or not any more; for operators, of whom one stays."""
    with store.writing() as c:
        row = members.set_operator(c, requester, member, body.operator)
    return MemberOut.model_validate(row._mapping)


@routes.delete("/members/{member}", status_code=204)
def delete_member(member: MemberId, store: StoreOf, requester: Operator) -> None:
    """Remove a member: their keys and sessions end at once; for operators, of whom one stays."""
    with store.writing() as c:
        members.remove(c, requester, member)
