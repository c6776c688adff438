"""Pages about the log of actions: of a project, and for operators of the whole service."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import access, exports
from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.pages.dashboard.access.requester import Reading, ReadingAsAdmin, Requester, may
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.requesters.log import describe, log_export, log_tables, read_entries
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.store.requesters.action_log import OF_REQUESTERS, Filter

ENTRIES_PER_PAGE = 100
MAX_QUERY_CHARACTERS = 200
MAX_ID_DIGITS = 18
CATEGORY_NAMES = {
    "": "All but workers arriving", "sign-in": "Sign-ins", "refused": "Wrong keys",
    "access": "Members and keys", "project": "Projects", "data": "Data and exports", "worker": "Workers",
    "arrival": "Workers arriving",
}  # fmt: skip
FORMATS = ("csv", "ndjson")


def pages() -> APIRouter:
    """Routes about the log."""
    return router([
        ("GET", "/projects/{id}/log", show_project_log),
        ("GET", "/projects/{id}/log/export.{format}", download_project_log),
        ("GET", "/log", show_log), ("GET", "/log/export.{format}", download_log),
    ])  # fmt: skip


def show_project_log(
    id: str, requester: Reading, store: StoreOf, category: str = "", actor: str = "", text: str = "",
    before: str = "",
) -> Response:  # fmt: skip
    """What was done to a project, and by whom."""
    may(access.LABEL_OPS, requester)
    return _show(store, requester, _filter(id, category, actor, text), category, before)


def show_log(
    requester: ReadingAsAdmin, store: StoreOf, category: str = "", actor: str = "", text: str = "",
    before: str = "",
) -> Response:  # fmt: skip
    """What was done to the whole service; for operators."""
    access.check_operator(requester.access)
    return _show(store, requester, _filter(None, category, actor, text), category, before)


def download_project_log(
    id: str, format: str, requester: Reading, store: StoreOf, category: str = "", actor: str = "",
    text: str = "",
) -> Response:  # fmt: skip
    """The log of a project as a file."""
    may(access.LABEL_OPS, requester)
    return _download(store, requester, _filter(id, category, actor, text), format)


def download_log(
    format: str,
    requester: ReadingAsAdmin,
    store: StoreOf,
    category: str = "",
    actor: str = "",
    text: str = "",
) -> Response:
    """The log of the whole service as a file; for operators."""
    access.check_operator(requester.access)
    return _download(store, requester, _filter(None, category, actor, text), format)


def _filter(project: str | None, category: str, actor: str, text: str) -> Filter:
    categories = (category,) if category and category in CATEGORY_NAMES else OF_REQUESTERS
    words = [typed.replace("\x00", "").strip()[:MAX_QUERY_CHARACTERS] for typed in (actor, text)]
    return Filter(project, categories, *words)


def _show(store: Store, requester: Requester, wanted: Filter, category: str, before: str) -> Response:
    before_id = (
        int(before) if before.isascii() and before.isdigit() and len(before) <= MAX_ID_DIGITS else None
    )
    with store.reading() as c:
        project = None if wanted.project is None else projects.find(c, wanted.project)
        rows = read_entries(c, wanted, before=before_id, n=ENTRIES_PER_PAGE + 1)
        people = action_log.people(c, wanted.project)
        titles = {row.id: row.name for row in projects.list_all(c)} if project is None else {}
    query = {"category": category, "actor": wanted.actor, "text": wanted.text}
    more = len(rows) > ENTRIES_PER_PAGE
    shown: dict[str, Any] = {
        "rows": [describe(row) for row in rows[:ENTRIES_PER_PAGE]], "people": people,
        "titles": titles, "categories": CATEGORY_NAMES, "formats": FORMATS,
        "category": category, "actor": wanted.actor, "text": wanted.text, "query": urlencode(query),
        "older": rows[ENTRIES_PER_PAGE - 1]["id"] if more else None, "newest": before_id is None,
        "home": "/log" if project is None else f"/projects/{project.id}/log",
    }  # fmt: skip
    return show("log.html", requester, project, **shown)


def _download(store: Store, requester: Requester, wanted: Filter, format: str) -> Response:
    if format not in FORMATS:
        raise NotFoundError(f"there is no such format; there are {', '.join(FORMATS)}")
    log_export(store, requester.id, wanted.project, "log", format=format)
    pieces = exports.write(log_tables(store, wanted), format)
    return attachment(pieces, f"log.{format}", exports.MEDIA_TYPES[format])
