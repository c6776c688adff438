"""Keys of requesters, and the log of what was done to a project."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.pages.dashboard.formatting import go, router, show
from crowdpilot.service.pages.dashboard.sign_in import Admin, AdminReading, Reading, Requester, Sent
from crowdpilot.service.store import keys, projects
from crowdpilot.service.store.engine import Store

SCOPES = {
    "read": ("Read", "See everything, change nothing."),
    "write": ("Write", "Make and run projects, too."),
    "admin": ("Admin", "Make and revoke keys, too."),
}
LONGEST = 100  # characters of a name


def pages() -> APIRouter:
    """Routes about keys and the log."""
    return router([
        ("GET", "/keys", see_keys), ("POST", "/keys", make_key), ("GET", "/keys/{key}/revoke", ask_revoke),
        ("POST", "/keys/{key}/revoke", revoke_key), ("GET", "/projects/{id}/log", see_log),
    ])  # fmt: skip


def see_keys(who: AdminReading, store: StoreOf) -> Response:
    """All keys."""
    return _keys(store, who)


def _keys(store: Store, who: Requester, status: int = 200, new: str = "", wrong: str = "") -> Response:
    with store.reading() as c:
        rows = keys.listed(c)
    return show("keys.html", who, status=status, rows=rows, scopes=SCOPES, new=new, wrong=wrong)


def make_key(sent: Sent, who: Admin, store: StoreOf) -> Response:
    """Make a key, and show it this one time."""
    name, scope = str(sent.get("name", "")).strip(), str(sent.get("scope", ""))
    if not 0 < len(name) <= LONGEST or "\x00" in name:
        return _keys(store, who, 422, wrong=f"Give the key a name of at most {LONGEST} characters.")
    with store.writing() as c:
        key = keys.create(c, name, scope)
        keys.note(c, who.id, "create key", name=name, scope=scope)
    return _keys(store, who, new=key)


def ask_revoke(key: str, who: AdminReading, store: StoreOf) -> Response:
    """Ask again before a key is good no more."""
    with store.reading() as c:
        found = [row for row in keys.listed(c) if row.id == key]
    if not found:
        raise NotFoundError("there is no such key")
    words = ["Programs and people who use it are locked out at once. This cannot be undone."]
    if key == who.id:
        words.append("It is the key you are signed in with: you will be signed out.")
    return show(
        "confirm.html", who, title=f"Revoke the key “{found[0].name}”?", words=words, yes="Revoke the key",
        action=f"/keys/{key}/revoke", back="/keys",
    )  # fmt: skip


def revoke_key(key: str, who: Admin, store: StoreOf) -> Response:
    """Revoke a key."""
    with store.writing() as c:
        if not keys.revoke(c, key):
            raise NotFoundError("there is no such key, or it is revoked already")
        keys.note(c, who.id, "revoke key", key=key)
    return go("/keys")


def see_log(id: str, who: Reading, store: StoreOf) -> Response:
    """What was done to a project, and by whom."""
    with store.reading() as c:
        project, rows = projects.find(c, id), keys.noted(c, id, 500)
        names = {key.id: key.name for key in keys.listed(c)}
    return show("log.html", who, project, rows=rows, names=names)
