"""Routes about the log of actions: of a project, and for operators of the whole service."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel

from crowdpilot.service import exports
from crowdpilot.service.http.auth import LabelOps, Operator, ProjectId, StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.requesters.log import log_export, log_tables, read_entries
from crowdpilot.service.schemas import Plain
from crowdpilot.service.store import Store
from crowdpilot.service.store.requesters.action_log import OF_REQUESTERS, Filter

routes = APIRouter(prefix="/api", tags=["log"], responses=ERRORS)
Category = Literal["sign-in", "refused", "access", "project", "data", "worker", "arrival"]
MAX_ENTRIES = 1000
FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {exports.MEDIA_TYPES[name]: {"schema": {"type": "string"}} for name in ("csv", "ndjson")}
    }
}


class EntryOut(BaseModel):
    """Who did what, when and from where; `actor` is the id of a key or member, `name` says whose it is."""

    id: int
    time: float
    category: str
    actor: str
    name: str
    action: str
    project: str | None
    address: str | None
    detail: dict[str, Any]


class LogOut(BaseModel):
    """Entries, the newest first; `before` is for the next page, null on the last."""

    entries: list[EntryOut]
    before: int | None


def read_filter(
    category: Annotated[list[Category] | None, Query(max_length=10)] = None,
    actor: Annotated[Plain, Query(max_length=200)] = "",
    text: Annotated[Plain, Query(max_length=200)] = "",
) -> Filter:
    """Which entries are wanted; arrivals of workers only if they are asked for."""
    return Filter(None, category or OF_REQUESTERS, actor, text)


Wanted = Annotated[Filter, Depends(read_filter)]
Before = Annotated[int | None, Query(ge=1, lt=2**63)]
Number = Annotated[int, Query(ge=1, le=MAX_ENTRIES)]
Format = Annotated[Literal["json", "csv", "ndjson"], Query()]


@routes.get("/projects/{id}/log", response_model=LogOut, responses=FILES)
def get_project_log(
    id: ProjectId, store: StoreOf, requester: LabelOps, wanted: Wanted, before: Before = None,
    n: Number = 100, format: Format = "json",
) -> Any:  # fmt: skip
    """What was done to a project, by whom and from where; all of it as CSV or NDJSON."""
    return _respond(store, requester.actor, wanted._replace(project=id), before, n, format)


@routes.get("/log", response_model=LogOut, responses=FILES)
def get_log(
    store: StoreOf, requester: Operator, wanted: Wanted, before: Before = None, n: Number = 100,
    format: Format = "json",
) -> Any:  # fmt: skip
    """What was done to the whole service: sign-ins, wrong keys, keys, members, projects; for operators."""
    return _respond(store, requester.actor, wanted, before, n, format)


def _respond(
    store: Store, actor: str, wanted: Filter, before: int | None, n: int, format: str
) -> LogOut | Response:
    if format != "json":
        log_export(store, actor, wanted.project, "log", format=format)
        pieces = exports.write(log_tables(store, wanted), format)
        return attachment(pieces, f"log.{format}", exports.MEDIA_TYPES[format])
    with store.reading() as c:
        entries = read_entries(c, wanted, before=before, n=n)
    return LogOut(
        entries=[EntryOut(**entry) for entry in entries],
        before=entries[-1]["id"] if len(entries) == n else None,
    )
