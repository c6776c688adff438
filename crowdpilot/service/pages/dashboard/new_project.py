"""A new project by a form and a file, all of it or nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.http.routes.items import check_budget
from crowdpilot.service.http.schemas import ProjectIn
from crowdpilot.service.pages.dashboard.formatting import go, router, show
from crowdpilot.service.pages.dashboard.project_form import DEFAULTS, LABELS, described
from crowdpilot.service.pages.dashboard.sign_in import Reading, Requester, Sent, Writing
from crowdpilot.service.store import keys, projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.uploads import items

PLACEHOLDER = "0" * 12  # of the id of a project that is not made yet
NOTHING = "Choose a file with items: CSV, NDJSON or JSON, or one or more images."


def pages() -> APIRouter:
    """Routes of the form."""
    return router([
        ("GET", "/projects/new", ask_new), ("POST", "/projects/new", make_new),
        ("GET", "/projects/{id}/add", ask_more), ("POST", "/projects/{id}/add/items", add_more),
    ])  # fmt: skip


def ask_new(who: Reading) -> Response:
    """The empty form."""
    return _form(who, dict(DEFAULTS), {})


def make_new(sent: Sent, who: Writing, store: StoreOf) -> Response:
    """Make a project with its items, or show what is wrong beside it."""
    typed = {name: str(sent.get(name, "")).strip() for name in DEFAULTS}
    made, wrong = described(typed)
    files = _files(sent)
    if not files:
        wrong["files"] = NOTHING
    if made is None or wrong:
        return _form(who, typed, wrong)
    try:
        id = _make(store, who, made, files)
    except (RequestError, ValueError) as error:
        return _form(who, typed, {"files": _sentence(str(error))})
    return go(f"/projects/{id}")


def _form(who: Requester, typed: dict[str, str], wrong: dict[str, str]) -> Response:
    return show("new.html", who, status=422 if wrong else 200, typed=typed, wrong=wrong, labels=LABELS)


def _make(store: Store, who: Requester, made: ProjectIn, files: list[UploadFile]) -> str:
    """Items are read before the transaction begins, so that nobody waits for a long file."""
    spec = made.model_dump()
    upload = _read(PLACEHOLDER, spec, files)
    with store.writing() as c:
        id = projects.create(c, spec)
        keys.note(c, who.id, "create", id)
        count = items.add(c, id, upload._replace(items=[_moved(item, id) for item in upload.items]))
        keys.note(c, who.id, "add items", id, items=count)
    return id


def _read(project: str, spec: dict[str, Any], files: list[UploadFile]) -> items.Upload:
    sent = [items.File(file.filename or "", file.file.read()) for file in files]
    upload = items.read_items(project, spec, items.Body("", files=sent))
    if spec["machine"] == "given" and all(item["machine"] is None for item in upload.items):
        raise ValueError("the file has no columns p_CLASS; add them, or choose another machine")
    return upload


def _moved(item: dict[str, Any], project: str) -> dict[str, Any]:
    """The same item with the address of its image in the project that is there now."""
    image = item["content"].get("image", "")
    if not image.startswith(f"/files/{PLACEHOLDER}/"):
        return item
    return {**item, "content": {**item["content"], "image": image.replace(PLACEHOLDER, project, 1)}}


def ask_more(id: str, who: Reading, store: StoreOf) -> Response:
    """A form for more items."""
    with store.reading() as c:
        return show("add.html", who, projects.find(c, id), wrong="")


async def add_more(id: str, sent: Sent, who: Writing, store: StoreOf, labelling: LabellingOf) -> Response:
    """Add items to a project, all or none."""
    files = _files(sent)

    def add() -> None:
        with store.writing() as c:
            count = items.add(c, id, upload)
            keys.note(c, who.id, "add items", id, items=count)

    with store.reading() as c:
        project = projects.find(c, id)
    try:
        if not files:
            raise ValueError(NOTHING)
        upload = await asyncio.to_thread(_read, id, project.spec, files)
        await labelling.look(id, lambda replica, _: check_budget(replica, len(upload.items)))
        await asyncio.to_thread(add)
    except (RequestError, ValueError) as error:
        return show("add.html", who, project, status=422, wrong=_sentence(str(error)))
    return go(f"/projects/{id}/items")


def _files(sent: FormData) -> list[UploadFile]:
    return [file for file in sent.getlist("files") if isinstance(file, UploadFile) and file.filename]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."
