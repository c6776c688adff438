"""Route of the files of items: images, sounds and videos, whole or in ranges of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response, StreamingResponse

from crowdpilot.service.http.auth import ProjectId, StoreOf
from crowdpilot.service.http.byte_ranges import (
    ByteRange,
    UnsatisfiableRangeError,
    is_unchanged,
    requested_range,
)
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.store import Store, file_parts, items, projects
from crowdpilot.service.uploads.media_types import TYPES

routes = APIRouter(tags=["items"], responses=error_schemas(404, 422, 503))
BYTES_PER_PART = 1 << 20  # of a file, in memory at once
CONTENT: dict[str, dict[str, str]] = {type: {} for type in TYPES}


@routes.get(
    "/files/{project}/{digest}",
    response_class=Response,
    responses={
        200: {"content": CONTENT},
        206: {"description": "The range of bytes that was asked for", "content": CONTENT},
        304: {"description": "The file is as it was"},
        416: {"description": "The range lies behind the end of the file"},
    },
)
def get_file(
    project: ProjectId,
    digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")],
    request: Request,
    store: StoreOf,
) -> Response:
    """An image, a sound or a video of an item; whole, or the one range of bytes that the request names.

    Everybody who has the address may load it, as the page of a worker does: the address holds the SHA-256
    of the file, which cannot be guessed without the file or the item.
    """
    with store.reading() as c:
        projects.find(c, project)
        file = items.file_size(c, project, digest)
    tag = f'"{digest}"'
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable", "Content-Disposition": "inline",
        "Accept-Ranges": "bytes", "ETag": tag,
    }  # fmt: skip
    if is_unchanged(request.headers, tag):
        return Response(status_code=304, headers=headers)
    try:
        part = requested_range(request.headers, tag, file.size)
    except UnsatisfiableRangeError:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{file.size}"})
    whole = ByteRange(0, file.size)
    start, end = part or whole
    headers["Content-Length"] = str(end - start)
    if part is not None:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{file.size}"
    parts = _parts(store, project, digest, part or whole)
    return StreamingResponse(parts, 200 if part is None else 206, headers, media_type=file.type)


def _parts(store: Store, project: str, digest: str, wanted: ByteRange) -> Iterator[bytes]:
    """The bytes of a range, one part after the other; nothing is held between two parts."""
    for start in range(wanted.start, wanted.end, BYTES_PER_PART):
        with store.reading() as c:
            part = file_parts.read(c, project, digest, start, min(BYTES_PER_PART, wanted.end - start))
        yield part
