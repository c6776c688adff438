"""Pages about API keys, and the log of a project."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.sign_in import (
    Form,
    PostingAsAdmin,
    Reading,
    ReadingAsAdmin,
    Requester,
    go,
)
from crowdpilot.service.store import keys, projects
from crowdpilot.service.store.engine import Store

SCOPES = {
    "read": ("Read", "See everything, change nothing."),
    "write": ("Write", "Make and run projects, too."),
    "admin": ("Admin", "Make and revoke keys, too."),
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
    """All keys."""
    return _keys(store, requester)


def _keys(store: Store, requester: Requester, status: int = 200, new: str = "", wrong: str = "") -> Response:
    with store.reading() as c:
        rows = keys.list_all(c)
    return show("keys.html", requester, status=status, rows=rows, scopes=SCOPES, new=new, wrong=wrong)


def make_key(form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Make a key, and show it this one time."""
    name, scope = str(form.get("name", "")).strip(), str(form.get("scope", ""))
    if not 0 < len(name) <= MAX_NAME_CHARACTERS or "\x00" in name:
        return _keys(
            store, requester, 422, wrong=f"Give the key a name of at most {MAX_NAME_CHARACTERS} characters."
        )
    with store.writing() as c:
        key = keys.create(c, name, scope)
        keys.log_action(c, requester.id, "create key", name=name, scope=scope)
    return _keys(store, requester, new=key)


def confirm_revoke(key: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """Ask again before a key is revoked."""
    with store.reading() as c:
        found = [row for row in keys.list_all(c) if row.id == key]
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
        if not keys.revoke(c, key):
            raise NotFoundError("there is no such key, or it is revoked already")
        keys.log_action(c, requester.id, "revoke key", key=key)
    return go("/keys")


def show_log(id: str, requester: Reading, store: StoreOf) -> Response:
    """What was done to a project, and by whom."""
    with store.reading() as c:
        project, rows = projects.find(c, id), keys.logged_actions(c, id, MAX_LOG_ROWS)
        names = {key.id: key.name for key in keys.list_all(c)}
    return show("log.html", requester, project, rows=rows, names=names)
