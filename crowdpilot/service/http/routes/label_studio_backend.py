"""Routes that Label Studio calls: a project as its ML backend, and the webhook of annotations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path
from pydantic import BaseModel

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import LabellingOf, ProjectId, SettingsOf, StoreOf
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.label_studio import events
from crowdpilot.service.label_studio.importing import find_single_question_project
from crowdpilot.service.label_studio.writing_back import has_evidence
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.platforms.label_studio import backend
from crowdpilot.service.store import Store
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.label_studio import connections


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
def post_setup(project: BackendProject, body: JsonBody, store: StoreOf) -> dict[str, str]:
    """Check that the classes in Label Studio are those of the project."""
    return backend.setup(
        body, project.spec["classes"], version=_version(project), control=_control(store, project.id)
    )


@routes.post("/predict")
async def post_predict(
    project: BackendProject, body: JsonBody, labelling: LabellingOf, store: StoreOf
) -> dict[str, Any]:
    """The likeliest class of each task of which something is known, with its probability."""
    names = backend.requested_items(body)
    probs = await labelling.read(project.id, lambda replica, _: _probabilities(replica, names))
    control = await asyncio.to_thread(_control, store, project.id)
    return backend.predict(body, probs, project.spec["classes"], version=_version(project), control=control)


def _version(project: Row) -> str:
    return backend.model_version(project.update_number)


def _control(store: Store, project: str) -> str:
    """The name of the choices that a connection is about; empty where there is none."""
    with store.reading() as c:
        found = connections.find(c, project)
    return "" if found is None else str(found.control)


def _probabilities(replica: Replica, names: Sequence[str]) -> dict[str, list[float]]:
    known = [name for name in names if name in replica.item_ids]
    rows = replica.campaign.view.item_rows(known)
    probs, is_known = replica.campaign.posterior()[rows], has_evidence(replica)[rows]
    found = zip(known, probs.tolist(), is_known.tolist(), strict=True)
    return {name: p for name, p, has_some in found if has_some}


@routes.post("/webhook")
async def post_webhook(
    project: BackendProject, body: JsonBody, store: StoreOf, settings: SettingsOf, labelling: LabellingOf
) -> EventOut:
    """Apply what changed in Label Studio: tasks, and annotations as votes; then open and close tasks there.

    Label Studio waits for the answer before it gives its annotator the next task.
    """
    counts = await asyncio.to_thread(events.apply_event, store, settings, project, body)
    if body.get("action") in events.DRIVING:
        loop = asyncio.get_running_loop()

        def read(function: Callable[[Replica, Row], Any]) -> Any:
            return asyncio.run_coroutine_threadsafe(labelling.read(project.id, function), loop).result()

        await asyncio.to_thread(events.drive_after, store, settings, project.id, read)
    return EventOut(changed=counts.votes, skipped=counts.skipped)
