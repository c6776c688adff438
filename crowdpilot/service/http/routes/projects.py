"""Routes for requesters about whole projects: create, list, change settings, pause, close, archive."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel

from crowdpilot.service import access, project_changes, requester_actions
from crowdpilot.service.access import Requester
from crowdpilot.service.http.auth import (
    Admin,
    LabellingOf,
    LabelOps,
    ProjectId,
    Reader,
    SettingsOf,
    StoreOf,
    Writer,
)
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.outgoing.addresses import check_new_webhook
from crowdpilot.service.platforms.invitation_links import invitation_url
from crowdpilot.service.requesters.project_creation import create_empty_project
from crowdpilot.service.schemas import Name, ProjectIn, Strict
from crowdpilot.service.status import project_status
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store

ERRORS = error_schemas(401, 403, 404, 409, 413, 422, 429, 503)
routes = APIRouter(prefix="/api/projects", tags=["requester"], responses=ERRORS)


class NewProjectOut(BaseModel):
    """A new project: its id, and a link by which workers come."""

    id: str
    link: str


class ProjectOut(BaseModel):
    """A project in a list."""

    id: str
    name: str
    state: str
    votes: int
    done: bool
    archived: float | None = None
    spec_number: int = 0  # of the last change of the settings


class SettingsOut(BaseModel):
    """The settings of a project, and the number of their last change."""

    id: str
    spec_number: int
    spec: dict[str, Any]


class DeletionIn(Strict):
    """The name of the project, so that none is deleted by mistake."""

    name: Name


class ProjectsOut(BaseModel):
    """The projects of a requester, the newest first."""

    projects: list[ProjectOut]


@routes.post("", status_code=201)
def post_project(body: ProjectIn, store: StoreOf, settings: SettingsOf, requester: Writer) -> NewProjectOut:
    """Create a project."""
    check_new_webhook(body.webhook, settings.webhook_networks)
    with store.writing() as c:
        new = create_empty_project(c, requester, body.model_dump())
    return NewProjectOut(id=new.id, link=invitation_url(settings.address, settings.secret, *new))


@routes.get("")
def get_projects(store: StoreOf, requester: Reader, archived: bool = False) -> ProjectsOut:
    """The projects of the requester; those in the archive only if asked for."""
    with store.reading() as c:
        rows = access.list_projects(c, requester, archived=None if archived else False)
    return ProjectsOut(projects=[ProjectOut.model_validate(row._mapping) for row in rows])


@routes.get("/{id}")
async def get_project(id: ProjectId, labelling: LabellingOf, requester: Reader) -> dict[str, Any]:
    """The description of a project and its status."""
    return await labelling.read(id, project_status.project_summary)


@routes.patch("/{id}")
def patch_project(
    id: ProjectId, body: dict[str, Any], store: StoreOf, settings: SettingsOf, requester: Writer,
    spec_number: Annotated[int | None, Query(ge=0)] = None,
) -> SettingsOut:  # fmt: skip
    """Change settings of a project: send those that change, of `costs`, `plan` and the like single fields.

    With `spec_number` nothing is changed if somebody else has changed the settings since that number.
    """
    row = project_changes.change_settings(store, settings, id, requester.actor, body, spec_number=spec_number)
    return SettingsOut(id=row.id, spec_number=row.spec_number, spec=row.spec)


@routes.delete("/{id}", status_code=204)
def delete_project(id: ProjectId, body: DeletionIn, store: StoreOf, requester: Admin) -> Response:
    """Delete a project with all its items, files, votes and workers; this cannot be undone.

    It is gone at once; its rows are deleted in the background.
    """
    requester_actions.delete_project(store, id, requester.actor, body.name)
    return Response(status_code=204)


@routes.post("/{id}/pause")
def post_pause(id: ProjectId, store: StoreOf, requester: LabelOps) -> ProjectOut:
    """Give out no items for now; votes on leased items are still taken."""
    return _change_state(store, id, requester, projects.PAUSED)


@routes.post("/{id}/resume")
def post_resume(id: ProjectId, store: StoreOf, requester: LabelOps) -> ProjectOut:
    """Give out items again."""
    return _change_state(store, id, requester, projects.OPEN)


@routes.post("/{id}/close")
def post_close(id: ProjectId, store: StoreOf, requester: Writer) -> ProjectOut:
    """Give out no items and take no more votes; decisions can still be read."""
    return _change_state(store, id, requester, projects.CLOSED)


@routes.post("/{id}/archive")
def post_archive(id: ProjectId, store: StoreOf, requester: Writer) -> ProjectOut:
    """Close a project and put it away: lists show it only if they are asked to."""
    return ProjectOut.model_validate(requester_actions.archive(store, id, requester.actor)._mapping)


@routes.post("/{id}/restore")
def post_restore(id: ProjectId, store: StoreOf, requester: Writer) -> ProjectOut:
    """Take a project out of the archive; it stays closed until it is resumed."""
    return ProjectOut.model_validate(requester_actions.restore(store, id, requester.actor)._mapping)


def _change_state(store: Store, id: str, requester: Requester, state: str) -> ProjectOut:
    return ProjectOut.model_validate(
        requester_actions.change_state(store, id, requester.actor, state)._mapping
    )
