"""Routes for Label Studio: connections to it, import of its exports, export of tasks, its ML backend."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import Response
from pydantic import BaseModel, Field

from crowdpilot.service import exports
from crowdpilot.service.http.auth import LabellingOf, LabelOps, ProjectId, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.json_bodies import body_schema, json_body
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.http.upload_checks import check_upload
from crowdpilot.service.label_studio import connection, importing
from crowdpilot.service.label_studio.connection import Connection
from crowdpilot.service.label_studio.file_import import read_export
from crowdpilot.service.label_studio.importing import find_single_question_project
from crowdpilot.service.outgoing.addresses import check_new_webhook
from crowdpilot.service.platforms.invitation_links import invitation_url
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.config import TAGS, write_config
from crowdpilot.service.requesters import label_studio_projects
from crowdpilot.service.requesters.label_studio_projects import ConnectionIn
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import items

routes = APIRouter(prefix="/api/projects", tags=["Label Studio"], responses=ERRORS)
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


class ProblemOut(BaseModel):
    """What went wrong between the two programs, and when (seconds since 1970)."""

    time: float
    sentence: str


class ConnectionOut(BaseModel):
    """A connection: the project of Label Studio, where it stands, and what went wrong, the newest first."""

    address: str
    project: int
    title: str
    control: str
    state: str
    tasks: int
    votes: int
    open_tasks: int
    last_sync: float | None
    problems: list[ProblemOut]


class NewConnectedIn(ConnectionIn):
    """A project of Label Studio, and settings of the new project that differ from what is there."""

    settings: dict[str, Any] = Field(default_factory=dict)


class NewConnectedOut(BaseModel):
    """A new project: its id, a link by which workers come, and its connection."""

    id: str
    link: str
    connection: ConnectionOut


def _out(found: Connection) -> ConnectionOut:
    values = {**found._asdict(), "problems": [problem._asdict() for problem in found.problems]}
    return ConnectionOut(project=values.pop("ls_project"), **values)


@routes.post("/label-studio", status_code=201)
def post_connected_project(
    body: NewConnectedIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> NewConnectedOut:
    """Create a project after one of Label Studio, and connect the two."""
    to = ConnectionIn(**body.model_dump(exclude={"settings"}))
    spec = label_studio_projects.read_spec(settings, requester, to, body.settings)
    check_new_webhook(spec.webhook, settings.webhook_networks)
    made = label_studio_projects.create_connected(store, settings, requester, spec, to)
    link = invitation_url(settings.address, settings.secret, *made.new)
    return NewConnectedOut(id=made.new.id, link=link, connection=_out(made.connection))


@routes.post("/{id}/label-studio/connection", status_code=201)
def post_connection(
    id: ProjectId, body: ConnectionIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> ConnectionOut:
    """Connect a project to one of Label Studio: pull its tasks and annotations, and drive it from now on."""
    return _out(label_studio_projects.connect(store, settings, id, requester.actor, body))


@routes.get("/{id}/label-studio/connection")
def get_connection(id: ProjectId, store: StoreOf, requester: Reader) -> ConnectionOut:
    """Where the connection stands."""
    return _out(label_studio_projects.find(store, id))


@routes.delete("/{id}/label-studio/connection", status_code=204)
def delete_connection(id: ProjectId, store: StoreOf, settings: SettingsOf, requester: Writer) -> Response:
    """Remove webhook and ML backend in Label Studio and forget the token; items and votes stay."""
    label_studio_projects.find(store, id)
    connection.disconnect(store, settings, id, requester.actor)
    return Response(status_code=204)


@routes.post("/{id}/label-studio/sync")
def post_sync(id: ProjectId, store: StoreOf, settings: SettingsOf, requester: LabelOps) -> ImportOut:
    """Compare all tasks and annotations with Label Studio now; what was new."""
    label_studio_projects.find(store, id)
    return ImportOut(**connection.sync(store, settings, id)._asdict())


@routes.post("/{id}/label-studio", status_code=201, openapi_extra=body_schema(TaskList))
async def post_tasks(
    id: ProjectId,
    requester: Writer,
    tasks: Tasks,
    labelling: LabellingOf,
    store: StoreOf,
    settings: SettingsOf,
) -> ImportOut:
    """Import an export of Label Studio (JSON): tasks that are new become items, annotations become votes."""
    project = await asyncio.to_thread(find_single_question_project, store, id)
    export = await asyncio.to_thread(read_export, store, settings, project, tasks)
    await check_upload(labelling, id, len(export.items))
    counts = await asyncio.to_thread(importing.import_tasks, store, project, requester.actor, export)
    return ImportOut(**counts._asdict())


@routes.get("/{id}/label-studio")
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


@routes.get("/{id}/label-studio/backend")
def get_backend(id: ProjectId, store: StoreOf, settings: SettingsOf, requester: Writer) -> BackendOut:
    """Address and configuration to enter in Label Studio; the address can add votes, so keep it secret."""
    spec = find_single_question_project(store, id).spec
    with store.reading() as c:
        contents = [row.content for row in items.all_contents(c, id)]
    shows = [kind for kind in TAGS if any(kind in content for content in contents)]
    config = write_config(spec["classes"], question=spec["question"], shows=shows or ["text"])
    address = f"{settings.address}/label-studio/{id}/{backend.password(settings.secret, id)}"
    return BackendOut(address=address, config=config)
