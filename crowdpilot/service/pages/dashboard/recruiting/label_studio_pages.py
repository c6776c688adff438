"""Pages about Label Studio: connect a project to one there, see where it stands; a new project after one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import ValidationError
from starlette.datastructures import FormData

from crowdpilot.service import access
from crowdpilot.service.errors import NotFoundError, RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.label_studio import connection
from crowdpilot.service.label_studio.connection import Connection, Problem
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    Labelling,
    Reading,
    Requester,
    Writing,
    go,
    may,
)
from crowdpilot.service.pages.dashboard.formatting import count, router, show
from crowdpilot.service.pages.dashboard.recruiting.links import is_loopback
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters import label_studio_projects
from crowdpilot.service.requesters.label_studio_projects import ConnectionIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store

MAX_TYPED_CHARACTERS = 4000
MAX_PROBLEMS_SHOWN = 100
EMPTY = {"address": "", "token": "", "project": "", "control": ""}
EMPTY_NEW = {**EMPTY, "price": "0.05"}
WORDS = {  # what to write, by the field
    "address": "Write the address of the server, such as https://studio.example.org.",
    "token": "Copy an access token from Label Studio. It is there under Account & Settings.",
    "project": "Write the number of the project, as in the address of its page: /projects/7.",
    "control": "Write the name of the choices, at most 200 characters.",
    "price": "Write a number such as 0.05, more than 0 and at most 1.",
}
STATES = {  # a badge, its kind, and what it means
    "connecting": ("Connecting", "info", "The tasks there are still being read."),
    "running": (
        "Running",
        "info",
        "Annotators get the tasks that are worth an answer. The others are closed.",
    ),
    "waiting": (
        "Waiting",
        "warn",
        "Tasks are open, but nobody has answered for an hour. Ask somebody to go on, or stop the project. "
        "Somebody without an answer for a week is not waited for.",
    ),
    "finished": ("Finished", "good", "No more answers are wanted. All tasks are closed there."),
    "stopped": ("Stopped", "warn", "This project is paused or stopped. Nobody gets tasks from it there."),
    "failing": ("Failing", "bad", "The last comparison with Label Studio failed. It is tried again."),
}


class Typed(NamedTuple):
    """What somebody has typed, and what is wrong with it: beside its fields, or with the whole of it."""

    fields: Mapping[str, str]
    wrong: Mapping[str, str]
    problem: str = ""

    @property
    def status(self) -> int:
        """Of the page that shows it."""
        return 422 if self.wrong or self.problem else 200

    def shown(self) -> dict[str, Any]:
        """Data of the form; the token is typed again."""
        return {"typed": {**self.fields, "token": ""}, "wrong": self.wrong, "problem": self.problem}


def pages() -> APIRouter:
    """Routes about Label Studio."""
    home, new = "/projects/{id}/label-studio", "/projects/new/label-studio"
    return router([
        ("GET", new, show_new), ("POST", new, create),
        ("GET", home, show_connection), ("POST", home, connect), ("POST", f"{home}/sync", sync),
        ("POST", f"{home}/disconnect", disconnect),
    ])  # fmt: skip


# A project that is here


def show_connection(
    id: str, requester: Reading, store: StoreOf, settings: SettingsOf, done: str = ""
) -> Response:
    """Where the connection of a project stands, or a form to connect it."""
    may("label-ops", requester)
    return _page(store, settings, id, requester, Typed(EMPTY, {}), done=done)


def _page(
    store: Store, settings: Settings, id: str, requester: Requester, typed: Typed, done: str = ""
) -> Response:
    with store.reading() as c:
        project = projects.find(c, id)
    found = connection.find(store, id)
    return show(
        "recruiting/label_studio.html", requester, project, status=typed.status, found=found,
        state=_state(found), problems=_problems(found), done=_done(done), **_about(settings), **typed.shown(),
    )  # fmt: skip


def _state(found: Connection | None) -> tuple[str, str, str] | None:
    return None if found is None else STATES.get(found.state, (found.state, "info", ""))


def _problems(found: Connection | None) -> list[Problem]:
    """The newest first, as sentences."""
    shown = [] if found is None else found.problems[:MAX_PROBLEMS_SHOWN]
    return [problem._replace(sentence=sentence(problem.sentence)) for problem in shown]


def _done(done: str) -> str:
    """What has happened, from the address of the page."""
    n_items, _, n_votes = done.partition("-")
    if n_items.isdigit() and n_votes.isdigit() and len(done) < 20:
        return f"Compared: {count(int(n_items), 'new task')}, {count(int(n_votes), 'answer')} new or changed."
    return {"connected": "The project is connected.", "disconnected": "The project is disconnected."}.get(
        done, ""
    )


def _about(settings: Settings) -> dict[str, Any]:
    return {"own_address": settings.address, "is_local": is_loopback(settings.address)}


def connect(id: str, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Connect a project, or show what is wrong."""
    fields = _read(form, EMPTY)
    to, wrong = _parse(fields)
    if to is None:
        return _page(store, settings, id, requester, Typed(fields, wrong))
    try:
        label_studio_projects.connect(store, settings, id, requester.id, to)
    except (RequestError, ValueError) as error:
        return _page(store, settings, id, requester, Typed(fields, {}, sentence(str(error))))
    return go(f"/projects/{id}/label-studio?done=connected")


def sync(id: str, form: Form, requester: Labelling, store: StoreOf, settings: SettingsOf) -> Response:
    """Compare all tasks and answers with Label Studio now."""
    try:
        label_studio_projects.find(store, id)
        counts = connection.sync(store, settings, id)
    except (RequestError, ValueError) as error:
        return _page(store, settings, id, requester, Typed(EMPTY, {}, sentence(str(error))))
    return go(f"/projects/{id}/label-studio?done={counts.items}-{counts.votes}")


def disconnect(id: str, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """End the connection."""
    try:
        label_studio_projects.find(store, id)
        connection.disconnect(store, settings, id, requester.id)
    except NotFoundError:
        raise
    except (RequestError, ValueError) as error:
        return _page(store, settings, id, requester, Typed(EMPTY, {}, sentence(str(error))))
    return go(f"/projects/{id}/label-studio?done=disconnected")


def _read(form: FormData, fields: Mapping[str, str]) -> dict[str, str]:
    return {name: str(form.get(name, "")).strip()[:MAX_TYPED_CHARACTERS] for name in fields}


def _parse(fields: Mapping[str, str]) -> tuple[ConnectionIn | None, dict[str, str]]:
    """The project of Label Studio that was typed, or what is wrong by field."""
    try:
        values = {name: fields[name] for name in EMPTY}
        return ConnectionIn.model_validate({**values, "control": values["control"] or None}), {}
    except ValidationError as error:
        return None, {str(one["loc"][0]): WORDS[str(one["loc"][0])] for one in error.errors()}


# A new project


def show_new(requester: Reading, settings: SettingsOf) -> Response:
    """A form for a new project after one of Label Studio."""
    return _new_page(settings, requester, Typed(EMPTY_NEW, {}))


def _new_page(settings: Settings, requester: Requester, typed: Typed) -> Response:
    return show(
        "setup/label_studio.html", requester, status=typed.status, **_about(settings), **typed.shown()
    )


def create(form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Create a project after one of Label Studio and connect the two, or show what is wrong."""
    access.check_may_create(requester.access)
    fields = _read(form, EMPTY_NEW)
    to, wrong = _parse(fields)
    price = _price(fields["price"])
    if to is None or price is None:
        wrong |= {} if price is not None else {"price": WORDS["price"]}
        return _new_page(settings, requester, Typed(fields, wrong))
    try:
        changes = {"costs": {"prices": {"crowd": price}}}
        spec = label_studio_projects.read_spec(settings, requester.access, to, changes)
        made = label_studio_projects.create_connected(store, settings, requester.access, spec, to)
    except (RequestError, ValueError) as error:
        return _new_page(settings, requester, Typed(fields, {}, sentence(str(error))))
    return go(f"/projects/{made.new.id}/label-studio?done=connected")


def _price(text: str) -> float | None:
    try:
        price = float(text)
    except ValueError:
        return None
    return price if 0 < price <= 1 else None
