"""Routes for requesters that export data: decisions and votes as CSV, NDJSON or Parquet."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from crowdpilot.service import exports
from crowdpilot.service.http.auth import LabellingOf, ProjectId, Reader, StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import projects

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
