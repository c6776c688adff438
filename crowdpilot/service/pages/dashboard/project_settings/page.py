"""The page on which settings of a project are changed, with what changed when, and its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy import Connection

from crowdpilot.service import access, project_changes, requester_actions
from crowdpilot.service.errors import ConflictError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.project_settings.change_history import (
    Entry,
    read_history,
    show_changes,
)
from crowdpilot.service.pages.dashboard.setup.fields import Typed, read_typed
from crowdpilot.service.pages.dashboard.setup.form import form_data, parse_changes, to_typed
from crowdpilot.service.pages.dashboard.setup.pictures import read_pictures
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters.project_creation import Picture
from crowdpilot.service.store import items, projects, votes
from crowdpilot.service.store.engine import Row, Store

FIELD_OF_SETTING = {  # by how a message begins
    "the classes": "classes", "the criteria": "criteria", "the classifier": "machine", "the budget": "budget",
    "the webhook": "webhook", "there are workers": "price",
}  # fmt: skip
KNOWLEDGE_WORDS = {
    "gold": "items with known answers", "classifier_probs": "items with the guesses of a classifier",
    "override": "items that somebody decided by hand",
}  # fmt: skip
MAX_NUMBER_DIGITS = 18


def pages() -> APIRouter:
    """Routes about settings and states."""
    home = "/projects/{id}/settings"
    return router([
        ("GET", home, show_settings), ("POST", home, save_settings),
        ("GET", "/projects/archive", show_archive),
        ("GET", "/projects/{id}/archive", confirm_archive), ("POST", "/projects/{id}/archive", archive),
        ("POST", "/projects/{id}/restore", restore),
    ])  # fmt: skip


def show_settings(id: str, requester: Reading, store: StoreOf, saved: str = "") -> Response:
    """The settings of a project, in the form in which they were made."""
    with store.reading() as c:
        project = projects.find(c, id)
        return _page(c, requester, project, to_typed(project.spec), {}, is_saved=saved == "yes")


def _page(
    c: Connection, requester: Requester, project: Row, typed: Typed, wrong: Mapping[str, str], *,
    is_saved: bool = False, meanwhile: Entry | None = None,
) -> Response:  # fmt: skip
    has_votes, known = votes.exist(c, project.id), items.knowledge(c, project.id)
    status = 409 if meanwhile else 422 if wrong else 200
    return show(
        "settings.html", requester, project, status=status, **form_data(typed, wrong),
        fixed=["classes"] if has_votes or known else [], why_fixed=_why_fixed(has_votes, known),
        has_votes=has_votes, is_saved=is_saved, meanwhile=meanwhile, history=read_history(c, project.id),
    )  # fmt: skip


def _why_fixed(has_votes: bool, known: Sequence[str]) -> str:
    """Why the names of the answers cannot change, and what can be done; "" if they can."""
    if has_votes:
        return "The names cannot change any more: workers have answered with them."
    if not known:
        return ""
    there = " and ".join(KNOWLEDGE_WORDS[name] for name in known)
    return f"The names cannot change now: there are {there}. Delete these items, or duplicate the project."


def save_settings(id: str, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Save changed settings, or show the form again with what is wrong; nothing is overwritten in silence."""
    typed, pictures, wrong = read_pictures(form, read_typed(form), id)
    _save_pictures(store, id, pictures)
    with store.reading() as c:
        changes, more = parse_changes(typed, projects.find(c, id).spec)
    wrong |= more
    if changes is not None and not wrong:
        try:
            seen = _number(form.get("spec_number"))
            project_changes.change_settings(store, settings, id, requester.id, changes, spec_number=seen)
            return go(f"/projects/{id}/settings?saved=yes")
        except (RequestError, ValueError) as error:
            if isinstance(error, ConflictError) and str(error) == project_changes.OUT_OF_DATE:
                return _outdated_page(store, requester, id, typed)
            wrong = {_field(str(error)): sentence(str(error))}
    with store.reading() as c:
        return _page(c, requester, projects.find(c, id), typed, wrong)


def _save_pictures(store: Store, project: str, pictures: Sequence[Picture]) -> None:
    """Save pictures whatever else is wrong: a form that is shown again has their addresses."""
    if pictures:
        with store.writing() as c:
            for picture in pictures:
                items.save_file(c, project, *picture)


def _outdated_page(store: Store, requester: Requester, id: str, typed: Typed) -> Response:
    """The form as it was typed, with what somebody else has changed meanwhile."""
    with store.reading() as c:
        project = projects.find(c, id)
        changes, _ = parse_changes(typed, project.spec)
        typed_now = project_changes.merge(project.spec, changes or {})
        differing = project_changes.differences(project.spec, typed_now)
        last = next((entry for entry in read_history(c, id) if entry.changes), None)
        who, when = (last.who, last.time) if last else ("somebody", 0.0)
        meanwhile = Entry(when, who, "", show_changes(project_changes.shorten_all(differing)))
        return _page(c, requester, project, typed, {}, meanwhile=meanwhile)


def _number(value: Any) -> int:
    """The number of the settings that the form was made from; one that never was if there is none."""
    text = value if isinstance(value, str) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MAX_NUMBER_DIGITS else -1


def _field(message: str) -> str:
    """The field of the form that a message is about."""
    return next((name for words, name in FIELD_OF_SETTING.items() if message.startswith(words)), "more")


def show_archive(requester: Reading, store: StoreOf) -> Response:
    """The projects in the archive."""
    with store.reading() as c:
        rows = access.list_projects(c, requester.access, archived=True)
    return show("archive.html", requester, rows=rows)


def confirm_archive(id: str, requester: Reading, store: StoreOf) -> Response:
    """Ask again before a project is archived."""
    with store.reading() as c:
        project = projects.find(c, id)
    words = [
        "Workers get no more items, and no more answers are taken. The project leaves your list; everything "
        "in it is kept.",
        "You find it under “Archive” in the list, and can restore it.",
    ]
    return show(
        "confirm.html", requester, project, title=f"Archive “{project.name}”?", words=words,
        yes="Archive the project", action=f"/projects/{id}/archive", back=f"/projects/{id}/settings",
    )  # fmt: skip


def archive(id: str, requester: Writing, store: StoreOf) -> Response:
    """Put a project away."""
    requester_actions.archive(store, id, requester.id)
    return go("/projects")


def restore(id: str, requester: Writing, store: StoreOf) -> Response:
    """Take a project out of the archive."""
    requester_actions.restore(store, id, requester.id)
    return go(f"/projects/{id}")
