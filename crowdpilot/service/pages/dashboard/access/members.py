"""Pages about members: of a project, for its admins, and of the service, for operators."""

from __future__ import annotations

from collections import defaultdict

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData

from crowdpilot.service import access
from crowdpilot.service.errors import NotFoundError, RequestError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.pages.dashboard.access.keys import SCOPES
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    PostingAsAdmin,
    ReadingAsAdmin,
    Requester,
    go,
)
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters import members
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import members as members_store

MAX_NAME_CHARACTERS = 200


def pages() -> APIRouter:
    """Routes about members."""
    of_project, of_service = "/projects/{id}/members", "/members"
    return router([
        ("GET", of_project, show_roles), ("POST", of_project, set_role),
        ("GET", f"{of_project}/{{member}}/remove", confirm_remove_role),
        ("POST", f"{of_project}/{{member}}/remove", remove_role),
        ("GET", of_service, show_members), ("POST", of_service, add_member),
        ("POST", f"{of_service}/{{member}}/operator", set_operator),
        ("GET", f"{of_service}/{{member}}/remove", confirm_remove),
        ("POST", f"{of_service}/{{member}}/remove", remove),
    ])  # fmt: skip


# Of a project


def show_roles(id: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """The members of a project and what they may do in it."""
    return _roles(id, requester, store)


def _roles(id: str, requester: Requester, store: Store, wrong: str = "") -> Response:
    with store.reading() as c:
        project, rows = projects.find(c, id), members_store.list_of_project(c, id)
    status = 422 if wrong else 200
    return show("roles.html", requester, project, status=status, rows=rows, scopes=SCOPES, wrong=wrong)


def set_role(id: str, form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Give a member a role in a project, or another one."""
    try:
        with store.writing() as c:
            members.set_role(c, requester.access, id, _name(form), str(form.get("role", "")))
    except (RequestError, ValueError) as error:
        return _roles(id, requester, store, sentence(str(error)))
    return go(f"/projects/{id}/members")


def confirm_remove_role(id: str, member: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """Ask again before a member is taken out of a project."""
    with store.reading() as c:
        project, rows = projects.find(c, id), members_store.list_of_project(c, id)
    found = [row for row in rows if row.id == member]
    if not found:
        raise NotFoundError("there is no such member in this project")
    words = ["They do not see the project any more, and their keys do not open it. You can add them again."]
    if member == requester.access.member:
        words.append("This is you.")
    return show(
        "confirm.html", requester, project, title=f"Remove {found[0].name} from “{project.name}”?",
        words=words, yes="Remove", action=f"/projects/{id}/members/{member}/remove",
        back=f"/projects/{id}/members",
    )  # fmt: skip


def remove_role(id: str, member: str, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Take a member out of a project."""
    with store.writing() as c:
        members.remove_from_project(c, requester.access, id, member)
    return go("/projects" if member == requester.access.member else f"/projects/{id}/members")


# Of the service


def show_members(requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """All members and their projects; for operators."""
    return _members(requester, store)


def _members(requester: Requester, store: Store, wrong: str = "") -> Response:
    access.check_operator(requester.access)
    with store.reading() as c:
        rows, all_roles = members_store.list_all(c), members_store.roles(c)
    roles = defaultdict(list)
    for role in all_roles:
        roles[role.member].append(role)
    return show("members.html", requester, status=422 if wrong else 200, rows=rows, roles=roles,
                scopes=SCOPES, wrong=wrong)  # fmt: skip


def add_member(form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Add a member to the service; for operators."""
    access.check_operator(requester.access)
    try:
        with store.writing() as c:
            members.add(c, requester.access, _name(form), operator=form.get("operator") == "yes")
    except (RequestError, ValueError) as error:
        return _members(requester, store, sentence(str(error)))
    return go("/members")


def set_operator(member: str, form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Make a member an operator, or not any more; for operators."""
    with store.writing() as c:
        members.set_operator(c, requester.access, member, form.get("operator") == "yes")
    return go("/members")


def confirm_remove(member: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """Ask again before a member is removed; for operators."""
    access.check_operator(requester.access)
    with store.reading() as c:
        row = members_store.find(c, member)
    words = ["Their keys are revoked and they are signed out at once. This cannot be undone.",
             "Their projects stay, and operators may do everything in them."]  # fmt: skip
    return show(
        "confirm.html", requester, title=f"Remove {row.name}?", words=words, yes="Remove the member",
        action=f"/members/{member}/remove", back="/members",
    )  # fmt: skip


def remove(member: str, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Remove a member; for operators."""
    with store.writing() as c:
        members.remove(c, requester.access, member)
    return go("/members")


def _name(form: FormData) -> str:
    name = str(form.get("name", "")).strip()
    if not 0 < len(name) <= MAX_NAME_CHARACTERS or "\x00" in name:
        raise ValueError(f"give a name of at most {MAX_NAME_CHARACTERS} characters")
    return name
