"""Page to add items to a project: all or none."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.http.upload_checks import check_upload
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Writing, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.store import projects
from crowdpilot.service.store.requesters import action_log
from crowdpilot.service.uploads import items

NO_FILES = "Choose a file with items: a table, or one or more images, sounds or videos."


def pages() -> APIRouter:
    """Routes of the page."""
    return router([("GET", "/projects/{id}/add", show_add), ("POST", "/projects/{id}/add/items", add_items)])


def show_add(id: str, requester: Reading, store: StoreOf) -> Response:
    """A form for more items."""
    with store.reading() as c:
        return show("add.html", requester, projects.find(c, id), wrong="")


async def add_items(
    id: str, form: Form, requester: Writing, store: StoreOf, labelling: LabellingOf
) -> Response:
    """Add items to a project, all or none."""

    def add(upload: items.Upload) -> None:
        with store.writing() as c:
            count = items.add(c, id, upload)
            action_log.write(c, requester.id, "add items", id, items=count)

    with store.reading() as c:
        project = projects.find(c, id)
    try:
        upload = await asyncio.to_thread(_read, id, project.spec, form)
        await check_upload(labelling, id, len(upload.items))
        await asyncio.to_thread(add, upload)
    except (RequestError, ValueError) as error:
        return show("add.html", requester, project, status=422, wrong=sentence(str(error)))
    return go(f"/projects/{id}/items")


def _read(project: str, spec: dict[str, Any], form: FormData) -> items.Upload:
    files = [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
    if not files:
        raise ValueError(NO_FILES)
    sent = [items.File(file.filename or "", file.file.read()) for file in files]
    return items.read_items(project, spec, items.Body("", files=sent))
