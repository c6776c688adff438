"""Routes for requesters about whole projects: make, look, pause, close."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel

from crowdpilot.service import project_status
from crowdpilot.service.http.auth import LabellingOf, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.error_responses import described
from crowdpilot.service.http.schemas import ProjectIn
from crowdpilot.service.platforms import invitation_links
from crowdpilot.service.store import keys, projects

PROBLEMS = described(401, 403, 404, 409, 413, 422, 429, 503)
routes = APIRouter(prefix="/api/projects", tags=["requester"], responses=PROBLEMS)
Id = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]


class Made(BaseModel):
    """A new project: its id, and a link by which workers come."""

    id: str
    link: str


class Listed(BaseModel):
    """A project in a list."""

    id: str
    name: str
    state: str
    votes: int
    done: bool


class Projects(BaseModel):
    """All projects, the newest first."""

    projects: list[Listed]


@routes.post("", status_code=201)
def post_project(given: ProjectIn, store: StoreOf, settings: SettingsOf, key: Writer) -> Made:
    """Make a project."""
    with store.writing() as c:
        id = projects.create(c, given.model_dump())
        keys.note(c, key.id, "create", id)
    return Made(
        id=id, link=f"{settings.address}/w/{id}?invite={invitation_links.invite(settings.secret, id)}"
    )


@routes.get("")
def get_projects(store: StoreOf, key: Reader) -> Projects:
    """All projects."""
    with store.reading() as c:
        rows = projects.listed(c)
    return Projects(projects=[Listed.model_validate(row._mapping) for row in rows])


@routes.get("/{id}")
async def get_project(id: Id, labelling: LabellingOf, key: Reader) -> dict[str, Any]:
    """What was asked for, and where it stands."""
    return await labelling.look(id, project_status.of_project)


@routes.post("/{id}/pause")
def pause(id: Id, store: StoreOf, key: Writer) -> Listed:
    """Lend nothing for now; votes on what is lent are still taken."""
    return _change(store, id, key, projects.PAUSED)


@routes.post("/{id}/resume")
def resume(id: Id, store: StoreOf, key: Writer) -> Listed:
    """Lend again."""
    return _change(store, id, key, projects.OPEN)


@routes.post("/{id}/close")
def close(id: Id, store: StoreOf, key: Writer) -> Listed:
    """Lend nothing and take no more votes; what was decided can still be read."""
    return _change(store, id, key, projects.CLOSED)


def _change(store: StoreOf, id: str, key: Any, state: str) -> Listed:
    with store.writing() as c:
        projects.tick(c, id)
        projects.put(c, id, state=state)
        keys.note(c, key.id, state, id)
        return Listed.model_validate(projects.find(c, id)._mapping)
