"""Routes for requesters that give data out: decisions and votes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response, StreamingResponse

from crowdpilot.service import exports
from crowdpilot.service.http.auth import LabellingOf, Reader, StoreOf
from crowdpilot.service.http.routes.projects import PROBLEMS, Id
from crowdpilot.service.store import projects

routes = APIRouter(prefix="/api/projects/{id}", tags=["exports"], responses=PROBLEMS)
FILES: dict[int | str, dict[str, Any]] = {
    200: {"content": {type: {"schema": {"type": "string"}} for type in exports.TYPES.values()}}
}


def choose(
    request: Request, format: Annotated[Literal["csv", "ndjson", "parquet"] | None, Query()] = None
) -> str:
    """The format by its name, else the first that the header Accept speaks of, else CSV."""
    accepted = request.headers.get("accept", "")
    spoken = [(accepted.find(type), name) for name, type in exports.TYPES.items() if type in accepted]
    return format or (min(spoken)[1] if spoken else "csv")


Format = Annotated[str, Depends(choose)]


def attached(pieces: Iterator[bytes], name: str, format: str) -> Response:
    """A file to be saved."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{format}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces, headers=headers, media_type=exports.TYPES[format])


@routes.get("/decisions", response_class=Response, responses=FILES)
async def get_decisions(id: Id, key: Reader, labelling: LabellingOf, format: Format) -> Response:
    """The decision about every item that is not withdrawn, with its probabilities, for `crowdpilot score`."""
    decided = await labelling.look(id, exports.look)
    table = await asyncio.to_thread(exports.decisions_table, decided)
    return attached(exports.write([table], format), "decisions", format)


@routes.get("/votes", response_class=Response, responses=FILES)
def get_votes(id: Id, key: Reader, store: StoreOf, format: Format) -> Response:
    """Every vote, in the order in which they came; `crowdpilot aggregate` reads it.

    Workers are numbers here: who they are on their platform is told by `/workers` alone.
    """
    with store.reading() as c:
        spec = projects.find(c, id).spec
    return attached(exports.write(exports.votes_tables(store, id, spec), format), "votes", format)
