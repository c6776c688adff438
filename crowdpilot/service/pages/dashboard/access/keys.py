"""Page about API keys: one's own, and for operators those of everybody."""

from __future__ import annotations

import time

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData

from crowdpilot.service import access
from crowdpilot.service.errors import NotFoundError, RequestError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    PostingAsAdmin,
    ReadingAsAdmin,
    Requester,
    go,
)
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters import keys
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import members

SCOPES = {
    "read": ("Read", "See projects and their results, change nothing."),
    "label-ops": ("Label", "Run the labelling, too: invite and block workers, decide items."),
    "write": ("Write", "Make and change projects, too, and pay workers on Mechanical Turk."),
    "admin": ("Admin", "Manage members and keys, and delete, too."),
}
LIFETIMES = {"": "Never", "30": "In 30 days", "90": "In 90 days", "365": "In a year"}
DAY_SECONDS = 86400.0
MAX_NAME_CHARACTERS = 100


def pages() -> APIRouter:
    """Routes about keys."""
    return router([
        ("GET", "/keys", show_keys), ("POST", "/keys", make_key),
        ("GET", "/keys/{key}/revoke", confirm_revoke), ("POST", "/keys/{key}/revoke", revoke_key),
    ])  # fmt: skip


def show_keys(requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """The keys of the member; an operator sees all."""
    return _keys(store, requester)


def _keys(store: Store, requester: Requester, status: int = 200, new: str = "", wrong: str = "") -> Response:
    with store.reading() as c:
        rows = keys.list_visible(c, requester.access)
        projects = access.list_projects(c, requester.access)
        people = [row.name for row in members.list_all(c)] if requester.operator else []
    known = {project.id: project.name for project in projects}
    shown = {"rows": rows, "projects": known, "people": people, "scopes": SCOPES, "lifetimes": LIFETIMES}
    return show("keys.html", requester, status=status, **shown, new=new, wrong=wrong, now=time.time())


def make_key(form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Make a key, and show it this one time."""
    keys.check_may_manage(requester.access)
    name = str(form.get("name", "")).strip()
    try:
        if not 0 < len(name) <= MAX_NAME_CHARACTERS or "\x00" in name:
            raise ValueError(f"give the key a name of at most {MAX_NAME_CHARACTERS} characters")
        with store.writing() as c:
            key = keys.create(
                c, requester.access, name, str(form.get("scope", "")),
                member=str(form.get("member", "")).strip(), projects=_projects(form), expires=_expires(form),
            )  # fmt: skip
    except (RequestError, ValueError) as error:
        return _keys(store, requester, 422, wrong=sentence(str(error)))
    return _keys(store, requester, new=key)


def _projects(form: FormData) -> list[str] | None:
    return [str(id) for id in form.getlist("project")] or None


def _expires(form: FormData) -> float | None:
    days = str(form.get("days", ""))
    if days not in LIFETIMES:
        raise ValueError("there is no such time; choose when the key expires from the list")
    return time.time() + int(days) * DAY_SECONDS if days else None


def confirm_revoke(key: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """Ask again before a key is revoked."""
    with store.reading() as c:
        found = [row for row in keys.list_visible(c, requester.access) if row.id == key]
    if not found:
        raise NotFoundError(keys.NO_KEY)
    words = ["Programs and people who use it are locked out at once. This cannot be undone."]
    if key == requester.id:
        words.append("It is the key you are signed in with: you will be signed out.")
    return show(
        "confirm.html", requester, title=f"Revoke the key “{found[0].name}”?", words=words,
        yes="Revoke the key", action=f"/keys/{key}/revoke", back="/keys",
    )  # fmt: skip


def revoke_key(key: str, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Revoke a key."""
    with store.writing() as c:
        keys.revoke(c, requester.access, key)
    return go("/keys")
