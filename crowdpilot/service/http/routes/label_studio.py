"""Routes for Label Studio: import of its exports, export of tasks, the address of its ML backend."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from crowdpilot.service import exports
from crowdpilot.service.http.auth import LabellingOf, ProjectId, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.json_bodies import body_schema, json_body
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.http.upload_checks import check_upload
from crowdpilot.service.label_studio import importing
from crowdpilot.service.label_studio.importing import find_single_question_project
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.config import TAGS, write_config
from crowdpilot.service.platforms.label_studio.tasks import read_tasks
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import items

routes = APIRouter(prefix="/api/projects/{id}", tags=["Label Studio"], responses=ERRORS)
TaskList = Annotated[list[dict[str, Any]], Field(min_length=1, max_length=200_000)]
Tasks = Annotated[list[dict[str, Any]], Depends(json_body(TaskList))]


class ImportOut(BaseModel):
    """Counts of an import: new items, votes, and annotations that are no votes."""

    items: int
    votes: int
    skipped: int


class BackendOut(BaseModel):
    """Where Label Studio reaches the project as an ML backend, and the labelling configuration for it."""

    address: str
    config: str


@routes.post("/label-studio", status_code=201, openapi_extra=body_schema(TaskList))
async def post_tasks(
    id: ProjectId, requester: Writer, tasks: Tasks, labelling: LabellingOf, store: StoreOf
) -> ImportOut:
    """Import an export of Label Studio (JSON): tasks that are new become items, annotations become votes."""
    project = await asyncio.to_thread(find_single_question_project, store, id)
    export = await asyncio.to_thread(read_tasks, tasks, project.spec["classes"])
    await check_upload(labelling, id, len(export.items))
    counts = await asyncio.to_thread(importing.import_tasks, store, project, requester.actor, export)
    return ImportOut(**counts._asdict())


@routes.get("/label-studio")
async def get_tasks(
    id: ProjectId, labelling: LabellingOf, store: StoreOf, settings: SettingsOf, requester: Reader
) -> list[dict[str, Any]]:
    """All items as tasks to be imported: with decisions as predictions and votes as annotations.

    Workers are numbers here, in the field crowdpilot_worker.
    """
    project = await asyncio.to_thread(find_single_question_project, store, id)
    decided = await labelling.read(id, exports.project_decisions)
    await asyncio.to_thread(log_export, store, requester.actor, id, "label studio tasks")
    return await asyncio.to_thread(importing.export_tasks, store, project, decided, settings.address)


@routes.get("/label-studio/backend")
def get_backend(id: ProjectId, store: StoreOf, settings: SettingsOf, requester: Writer) -> BackendOut:
    """Address and configuration to enter in Label Studio; the address can add votes, so keep it secret."""
    spec = find_single_question_project(store, id).spec
    with store.reading() as c:
        contents = [row.content for row in items.all_contents(c, id)]
    shows = [kind for kind in TAGS if any(kind in content for content in contents)]
    config = write_config(spec["classes"], question=spec["question"], shows=shows or ["text"])
    address = f"{settings.address}/label-studio/{id}/{backend.password(settings.secret, id)}"
    return BackendOut(address=address, config=config)
