"""Routes for Label Studio: import of its exports, export of tasks, and its ML backend."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path
from pydantic import BaseModel, Field

from crowdpilot.service import exports, label_studio_sync
from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import LabellingOf, ProjectId, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.json_bodies import body_schema, json_body
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.http.upload_checks import check_upload
from crowdpilot.service.label_studio_sync import find_single_question_project
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.platforms.label_studio.config import TAGS, write_config
from crowdpilot.service.platforms.label_studio.tasks import MODEL_VERSION, read_tasks
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import items
from crowdpilot.service.store.engine import Row

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


class EventOut(BaseModel):
    """How many votes an event has changed, and how many of its annotations are of unknown items."""

    changed: int
    skipped: int


# For requesters --------------------------------------------------------------------------------


@routes.post("/label-studio", status_code=201, openapi_extra=body_schema(TaskList))
async def post_tasks(
    id: ProjectId, requester: Writer, tasks: Tasks, labelling: LabellingOf, store: StoreOf
) -> ImportOut:
    """Import an export of Label Studio (JSON): tasks that are new become items, annotations become votes."""
    project = await asyncio.to_thread(find_single_question_project, store, id)
    export = await asyncio.to_thread(read_tasks, tasks, project.spec["classes"])
    await check_upload(labelling, id, len(export.items))
    counts = await asyncio.to_thread(label_studio_sync.import_tasks, store, project, requester.actor, export)
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
    return await asyncio.to_thread(label_studio_sync.export_tasks, store, project, decided, settings.address)


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


# For Label Studio ------------------------------------------------------------------------------


def project_of_backend(
    project: ProjectId,
    password: Annotated[str, Path(min_length=1, max_length=100)],
    store: StoreOf,
    settings: SettingsOf,
) -> Row:
    """The project of an ML backend; a `NotFoundError` if the password in the address is wrong."""
    if not backend.is_password(settings.secret, project, password):
        raise NotFoundError("there is no such ML backend; copy its address again")
    return find_single_question_project(store, project)


BackendProject = Annotated[Row, Depends(project_of_backend)]
JsonBody = Annotated[dict[str, Any], Body()]
backend_routes = APIRouter(
    prefix="/label-studio/{project}/{password}",
    tags=["Label Studio"],
    responses=error_schemas(400, 404, 409, 413, 422, 429, 503),
)


@backend_routes.get("/health")
def get_health(project: BackendProject) -> dict[str, str]:
    """Whether the ML backend answers."""
    return backend.health()


@backend_routes.post("/setup")
def post_setup(project: BackendProject, body: JsonBody) -> dict[str, str]:
    """Check that the classes in Label Studio are those of the project."""
    return backend.setup(body, project.spec["classes"], version=_version(project))


@backend_routes.post("/predict")
async def post_predict(project: BackendProject, body: JsonBody, labelling: LabellingOf) -> dict[str, Any]:
    """The likeliest class of each task, with its probability."""
    names = backend.requested_items(body)
    probs = await labelling.read(project.id, lambda replica, _: _probabilities(replica, names))
    return backend.predict(body, probs, project.spec["classes"], version=_version(project))


def _version(project: Row) -> str:
    return f"{MODEL_VERSION}-{project.votes}-{project.update_number}"


def _probabilities(replica: Replica, names: Sequence[str]) -> dict[str, list[float]]:
    known = [name for name in names if name in replica.item_ids]
    probs = replica.campaign.posterior()[replica.campaign.view.item_rows(known)]
    return dict(zip(known, probs.tolist(), strict=True))


@backend_routes.post("/webhook")
def post_webhook(project: BackendProject, body: JsonBody, store: StoreOf) -> EventOut:
    """Add, change or remove the votes of annotations that changed in Label Studio."""
    changes = backend.changes(body, project.spec["classes"])
    counts = label_studio_sync.apply_changes(store, project, changes)
    return EventOut(changed=counts.votes, skipped=counts.skipped)
