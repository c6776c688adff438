"""Routes for requesters about whole projects: create, list, status, pause, resume, close."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel

from crowdpilot.service import access, project_status, requester_actions
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
from crowdpilot.service.jobs.webhook_addresses import check_new_webhook
from crowdpilot.service.platforms.invitation_links import invitation_url
from crowdpilot.service.schemas import Name, ProjectIn, Strict
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
        new = requester_actions.create_project(c, requester, body.model_dump())
    return NewProjectOut(id=new.id, link=invitation_url(settings.address, settings.secret, *new))


@routes.get("")
def get_projects(store: StoreOf, requester: Reader) -> ProjectsOut:
    """The projects of the requester."""
    with store.reading() as c:
        rows = access.list_projects(c, requester)
    return ProjectsOut(projects=[ProjectOut.model_validate(row._mapping) for row in rows])


@routes.get("/{id}")
async def get_project(id: ProjectId, labelling: LabellingOf, requester: Reader) -> dict[str, Any]:
    """The description of a project and its status."""
    return await labelling.read(id, project_status.project_summary)


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


def _change_state(store: Store, id: str, requester: Requester, state: str) -> ProjectOut:
    return ProjectOut.model_validate(
        requester_actions.change_state(store, id, requester.actor, state)._mapping
    )
