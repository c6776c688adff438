"""Routes for requesters that export data: tables as CSV, NDJSON or Parquet, and items as archives."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from crowdpilot.service import exports
from crowdpilot.service.exports.archives import ZIP
from crowdpilot.service.http.auth import LabellingOf, ProjectId, Reader, SettingsOf, StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row, Store

routes = APIRouter(prefix="/api/projects/{id}", tags=["exports"], responses=ERRORS)
FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {type: {"schema": {"type": "string"}} for type in exports.MEDIA_TYPES.values()}}
}


def choose_format(
    request: Request, format: Annotated[Literal["csv", "ndjson", "parquet"] | None, Query()] = None
) -> str:
    """The format by its name, else the first in the header Accept, else CSV."""
    accept = request.headers.get("accept", "")
    positions = [(accept.find(type), name) for name, type in exports.MEDIA_TYPES.items() if type in accept]
    return format or (min(positions)[1] if positions else "csv")


Format = Annotated[str, Depends(choose_format)]


@routes.get("/decisions", response_class=Response, responses=FILE_RESPONSES)
async def get_decisions(
    id: ProjectId, requester: Reader, labelling: LabellingOf, store: StoreOf, format: Format
) -> Response:
    """The decision about every item that is not withdrawn, with its probabilities, for `crowdpilot score`."""
    decided = await labelling.read(id, exports.project_decisions)
    table = await asyncio.to_thread(exports.decisions_table, decided)
    await asyncio.to_thread(log_export, store, requester.actor, id, "decisions", format=format)
    return attachment(exports.write([table], format), f"decisions.{format}", exports.MEDIA_TYPES[format])


@routes.get("/votes", response_class=Response, responses=FILE_RESPONSES)
def get_votes(id: ProjectId, requester: Reader, store: StoreOf, format: Format) -> Response:
    """Every vote, in the order in which they came; `crowdpilot aggregate` reads it.

    Workers are numbers here: only `/workers` gives their names on their platform.
    """
    with store.reading() as c:
        spec = projects.find(c, id).spec
    log_export(store, requester.actor, id, "votes", format=format)
    pieces = exports.write(exports.votes_tables(store, id, spec), format)
    return attachment(pieces, f"votes.{format}", exports.MEDIA_TYPES[format])


@routes.get("/comments", response_class=Response, responses=FILE_RESPONSES)
def get_comments(id: ProjectId, requester: Reader, store: StoreOf, format: Format) -> Response:
    """What workers say about items, and which they flagged; workers are numbers."""
    with store.reading() as c:
        spec = projects.find(c, id).spec
    table = exports.comments_table(store, id, spec)
    log_export(store, requester.actor, id, "comments", format=format)
    return attachment(exports.write([table], format), f"comments.{format}", exports.MEDIA_TYPES[format])


@routes.get("/dataset", response_class=Response, responses={200: {"content": {ZIP: {}}}})
async def get_dataset(
    id: ProjectId, requester: Reader, labelling: LabellingOf, store: StoreOf, settings: SettingsOf,
    format: Annotated[exports.Archive, Query()] = "class-folders",
    confidence: Annotated[float, Query(ge=0, le=1)] = 0.0,
) -> Response:  # fmt: skip
    """All items with their labels as a zip archive.

    `class-folders`: a folder for each class with images, sounds, videos and texts, and `items.csv`.
    `hugging-face`: what `datasets.load_dataset` reads. `argilla`: what `argilla.Dataset.from_disk` reads,
    with labels as suggestions. `confidence` leaves out items whose label has a lower probability.
    """
    decided = await labelling.read(id, exports.project_decisions)
    project = await asyncio.to_thread(_project, store, id)
    pieces = await asyncio.to_thread(
        exports.make_archive, format, store, project, decided, confidence, settings.address
    )
    await asyncio.to_thread(log_export, store, requester.actor, id, format, confidence=confidence)
    return attachment(pieces, f"{format}.zip", ZIP)


def _project(store: Store, id: str) -> Row:
    with store.reading() as c:
        return projects.find(c, id)
