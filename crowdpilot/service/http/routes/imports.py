"""Routes for requesters that import items from an address which the operator allows."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import ProjectId, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.routes.jobs import QueuedOut
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.jobs.imports import requests
from crowdpilot.service.schemas import Plain
from crowdpilot.service.schemas.fields import Strict
from crowdpilot.service.store import projects

routes = APIRouter(prefix="/api/projects/{id}/import", tags=["items"], responses=ERRORS)


class ImportIn(Strict):
    """An address of a file or a folder, such as `s3://bucket/folder/`."""

    address: Annotated[Plain, Field(min_length=1, max_length=requests.MAX_ADDRESS_CHARACTERS)]


class ImportOut(BaseModel):
    """How the last import stands: its state, files read, items added, and why it failed if it did."""

    address: str
    state: str
    read: int
    total: int
    items: int
    ignored: list[str]
    why: str


@routes.post("", status_code=202)
def post_import(
    id: ProjectId, body: ImportIn, store: StoreOf, settings: SettingsOf, requester: Writer
) -> QueuedOut:
    """Import the items of a folder, a zip archive or a table at an address, all or none.

    It is read with the credentials of the service, and only below addresses that its operator allows. A
    folder may hold images, sounds, videos, texts and one table; sub-folders that are called like classes
    give gold labels.
    """
    requests.start(store, settings, id, body.address, requester.actor)
    return QueuedOut(kind=requests.JOB_KIND)


@routes.get("")
def get_import(id: ProjectId, store: StoreOf, requester: Reader) -> ImportOut:
    """How the last import stands."""
    with store.reading() as c:
        projects.find(c, id)
        state = requests.latest(c, id)
    if state is None:
        raise NotFoundError("nothing was imported into this project yet")
    return ImportOut(**{**state._asdict(), "ignored": list(state.ignored)})
