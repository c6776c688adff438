"""Limits of request bodies: by route and content type, and for JSON by the number of its lists and objects.

Python parses JSON in one go, during which nothing else runs in a process: lists and objects are what takes
time and memory, and small ones most of all.
"""

from __future__ import annotations

from typing import NamedTuple

from fastapi import HTTPException
from starlette.types import Message, Receive

from crowdpilot.service.settings import Settings
from crowdpilot.service.uploads.table_records import MAX_JSON_CONTAINERS

STRANGER_BYTES = 64 << 10  # of a body that is read before the sender is known
WORKER_PATHS = ("/w/", "/api/votes", "/api/next", "/api/finish", "/api/sessions")
UPLOAD_PATHS = ("/items", "/gold", "/projects/new")  # how paths end that take tables and files
LARGE_JSON_PATHS = (
    *UPLOAD_PATHS,
    "/external-votes",
    "/stop",
    "/withdraw",
    "/label-studio",
    "/webhook",
    "/predict",
)
UPLOAD_TYPES = (
    b"multipart/form-data", b"text/csv", b"text/tab-separated-values", b"application/x-ndjson",
    b"application/jsonl", b"application/jsonlines",
)  # fmt: skip


class BodyLimit(NamedTuple):
    """The largest body that is taken, and how many lists and objects it may have if it is JSON."""

    bytes: int
    containers: int | None = None


def find_limit(settings: Settings, path: str, content_type: bytes) -> BodyLimit:
    """The limit for a body of somebody who is known."""
    if path.startswith(WORKER_PATHS):
        return BodyLimit(min(STRANGER_BYTES, settings.max_body_bytes))
    type = content_type.partition(b";")[0].strip().lower()
    if path.endswith(UPLOAD_PATHS) and type in UPLOAD_TYPES:
        return BodyLimit(settings.max_upload_bytes)
    if path.endswith(LARGE_JSON_PATHS):
        return BodyLimit(settings.max_json_bytes, MAX_JSON_CONTAINERS)
    return BodyLimit(settings.max_body_bytes, MAX_JSON_CONTAINERS)


def too_large(limit: BodyLimit) -> str:
    """Why a body is refused."""
    more = "; large tables can be sent as CSV or NDJSON" if limit.containers else ""
    return f"the request is larger than {limit.bytes} bytes; send less at once{more}"


def limited(receive: Receive, limit: BodyLimit) -> Receive:
    """The same body, which ends with an exception when it is too large."""
    received = containers = 0

    async def receive_limited() -> Message:
        nonlocal received, containers
        message = await receive()
        part = message.get("body", b"")
        received += len(part)
        if received > limit.bytes:
            raise HTTPException(413, too_large(limit))  # the one kind that is not taken for bad JSON
        if limit.containers is not None:
            containers += part.count(b"[") + part.count(b"{")
            if containers > limit.containers:
                raise HTTPException(
                    413, f"the JSON has more than {limit.containers} lists and objects; send less at once"
                )
        return message

    return receive_limited
