"""Pages to create a project with its items, and to add items: all or nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from crowdpilot.service import requester_actions
from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.http.upload_checks import check_upload
from crowdpilot.service.jobs.webhook_addresses import check_new_webhook
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.project_form import DEFAULTS, LABELS, parse_form
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.uploads import items

PLACEHOLDER = "0" * 12  # for the id of a project that is not created yet
NO_FILES = "Choose a file with items: CSV, NDJSON or JSON, or one or more images."


def pages() -> APIRouter:
    """Routes of the form."""
    return router([
        ("GET", "/projects/new", show_new), ("POST", "/projects/new", create_project),
        ("GET", "/projects/{id}/add", show_add), ("POST", "/projects/{id}/add/items", add_items),
    ])  # fmt: skip


def show_new(requester: Reading) -> Response:
    """The empty form."""
    return _form_page(requester, dict(DEFAULTS), {})


def create_project(form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Create a project with its items, or show what is wrong beside each field."""
    typed = {name: str(form.get(name, "")).strip() for name in DEFAULTS}
    description, wrong = parse_form(typed)
    try:
        check_new_webhook("" if "webhook" in wrong else typed["webhook"], settings.webhook_networks)
    except ValueError as error:
        wrong["webhook"] = sentence(str(error))
    files = _files(form)
    if not files:
        wrong["files"] = NO_FILES
    if description is None or wrong:
        return _form_page(requester, typed, wrong)
    try:
        id = _create(store, requester, description, files)
    except (RequestError, ValueError) as error:
        return _form_page(requester, typed, {"files": sentence(str(error))})
    return go(f"/projects/{id}")


def _form_page(requester: Requester, typed: dict[str, str], wrong: dict[str, str]) -> Response:
    return show("new.html", requester, status=422 if wrong else 200, typed=typed, wrong=wrong, labels=LABELS)


def _create(store: Store, requester: Requester, description: ProjectIn, files: list[UploadFile]) -> str:
    """Create a project; items are read before the transaction, so that nobody waits for a long file."""
    spec = description.model_dump()
    upload = _read(PLACEHOLDER, spec, files)
    with store.writing() as c:
        id = requester_actions.create_project(c, requester.access, spec).id
        count = items.add(c, id, upload._replace(items=[_with_project(item, id) for item in upload.items]))
        action_log.write(c, requester.id, "add items", id, items=count)
    return id


def _read(project: str, spec: dict[str, Any], files: list[UploadFile]) -> items.Upload:
    sent = [items.File(file.filename or "", file.file.read()) for file in files]
    upload = items.read_items(project, spec, items.Body("", files=sent))
    if spec["machine"] == "given" and all(item["machine"] is None for item in upload.items):
        raise ValueError("the file has no columns p_CLASS; add them, or choose another machine")
    return upload


def _with_project(item: dict[str, Any], project: str) -> dict[str, Any]:
    """An item with the address of its image in the project that was created."""
    image = item["content"].get("image", "")
    if not image.startswith(f"/files/{PLACEHOLDER}/"):
        return item
    return {**item, "content": {**item["content"], "image": image.replace(PLACEHOLDER, project, 1)}}


def show_add(id: str, requester: Reading, store: StoreOf) -> Response:
    """A form for more items."""
    with store.reading() as c:
        return show("add.html", requester, projects.find(c, id), wrong="")


async def add_items(
    id: str, form: Form, requester: Writing, store: StoreOf, labelling: LabellingOf
) -> Response:
    """Add items to a project, all or none."""
    files = _files(form)

    def add() -> None:
        with store.writing() as c:
            count = items.add(c, id, upload)
            action_log.write(c, requester.id, "add items", id, items=count)

    with store.reading() as c:
        project = projects.find(c, id)
    try:
        if not files:
            raise ValueError(NO_FILES)
        upload = await asyncio.to_thread(_read, id, project.spec, files)
        await check_upload(labelling, id, len(upload.items))
        await asyncio.to_thread(add)
    except (RequestError, ValueError) as error:
        return show("add.html", requester, project, status=422, wrong=sentence(str(error)))
    return go(f"/projects/{id}/items")


def _files(form: FormData) -> list[UploadFile]:
    return [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
