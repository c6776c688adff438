"""Routes that Label Studio calls: a project as its ML backend, and the webhook of annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path
from pydantic import BaseModel

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import LabellingOf, ProjectId, SettingsOf, StoreOf
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.label_studio import importing
from crowdpilot.service.label_studio.importing import find_single_question_project
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.store.engine import Row


class EventOut(BaseModel):
    """How many votes an event has changed, and how many of its annotations are of unknown items."""

    changed: int
    skipped: int


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
routes = APIRouter(
    prefix="/label-studio/{project}/{password}",
    tags=["Label Studio"],
    responses=error_schemas(400, 404, 409, 413, 422, 429, 503),
)


@routes.get("/health")
def get_health(project: BackendProject) -> dict[str, str]:
    """Whether the ML backend answers."""
    return backend.health()


@routes.post("/setup")
def post_setup(project: BackendProject, body: JsonBody) -> dict[str, str]:
    """Check that the classes in Label Studio are those of the project."""
    return backend.setup(body, project.spec["classes"], version=_version(project))


@routes.post("/predict")
async def post_predict(project: BackendProject, body: JsonBody, labelling: LabellingOf) -> dict[str, Any]:
    """The likeliest class of each task, with its probability."""
    names = backend.requested_items(body)
    probs = await labelling.read(project.id, lambda replica, _: _probabilities(replica, names))
    return backend.predict(body, probs, project.spec["classes"], version=_version(project))


def _version(project: Row) -> str:
    return backend.model_version(project.update_number)


def _probabilities(replica: Replica, names: Sequence[str]) -> dict[str, list[float]]:
    known = [name for name in names if name in replica.item_ids]
    probs = replica.campaign.posterior()[replica.campaign.view.item_rows(known)]
    return dict(zip(known, probs.tolist(), strict=True))


@routes.post("/webhook")
def post_webhook(project: BackendProject, body: JsonBody, store: StoreOf) -> EventOut:
    """Add, change or remove the votes of annotations that changed in Label Studio."""
    changes = backend.changes(body, project.spec["classes"])
    counts = importing.apply_changes(store, project, changes)
    return EventOut(changed=counts.votes, skipped=counts.skipped)
