"""Pages about API keys, and the log of a project."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    PostingAsAdmin,
    Reading,
    ReadingAsAdmin,
    Requester,
    go,
)
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log, keys

SCOPES = {
    "read": ("Read", "See your projects, change nothing."),
    "label-ops": ("Label", "Run the labelling, too: workers, links, stopping items."),
    "write": ("Write", "Make and change projects, too."),
    "admin": ("Admin", "Change members and keys, and delete, too."),
}
MAX_NAME_CHARACTERS = 100
MAX_LOG_ROWS = 500


def pages() -> APIRouter:
    """Routes about keys and the log."""
    return router([
        ("GET", "/keys", show_keys), ("POST", "/keys", make_key),
        ("GET", "/keys/{key}/revoke", confirm_revoke),
        ("POST", "/keys/{key}/revoke", revoke_key), ("GET", "/projects/{id}/log", show_log),
    ])  # fmt: skip


def show_keys(requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """The keys of the member; an operator sees all."""
    return _keys(store, requester)


def _keys(store: Store, requester: Requester, status: int = 200, new: str = "", wrong: str = "") -> Response:
    with store.reading() as c:
        rows = keys.list_all(c, _only(requester))
    return show("keys.html", requester, status=status, rows=rows, scopes=SCOPES, new=new, wrong=wrong)


def _only(requester: Requester) -> str | None:
    """The member whose keys somebody may see and revoke; None for an operator, who may all."""
    return None if requester.operator else requester.access.member


def make_key(form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Make a key, and show it this one time."""
    name, scope = str(form.get("name", "")).strip(), str(form.get("scope", ""))
    if not 0 < len(name) <= MAX_NAME_CHARACTERS or "\x00" in name:
        return _keys(
            store, requester, 422, wrong=f"Give the key a name of at most {MAX_NAME_CHARACTERS} characters."
        )
    with store.writing() as c:
        key = keys.create(c, requester.access.member, name, scope)
        action_log.write(c, requester.id, "create key", category=action_log.ACCESS, name=name, scope=scope)
    return _keys(store, requester, new=key)


def confirm_revoke(key: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """Ask again before a key is revoked."""
    with store.reading() as c:
        found = [row for row in keys.list_all(c, _only(requester)) if row.id == key]
    if not found:
        raise NotFoundError("there is no such key")
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
        if not keys.revoke(c, key, _only(requester)):
            raise NotFoundError("there is no such key, or it is revoked already")
        action_log.write(c, requester.id, "revoke key", category=action_log.ACCESS, key=key)
    return go("/keys")


def show_log(id: str, requester: Reading, store: StoreOf) -> Response:
    """What was done to a project, and by whom."""
    with store.reading() as c:
        project, rows = projects.find(c, id), action_log.read(c, project=id, n=MAX_LOG_ROWS)
        names = {key.id: key.name for key in keys.list_all(c)}
    return show("log.html", requester, project, rows=rows, names=names)
