"""Export pages of a project: decisions, votes, report, and Label Studio tasks."""

from __future__ import annotations

import asyncio
import json

import pyarrow as pa
from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import exports, label_studio_sync
from crowdpilot.service.errors import NotFoundError, NotReadyError
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.jobs import report_requests
from crowdpilot.service.pages.dashboard.access.requester import Reading
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.label_accuracy import estimate_accuracy
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.uploads.item_columns import criteria_of

PAGE_WAIT_SECONDS = 1.5  # for a report, before the page says that it is being made
DOWNLOAD_WAIT_SECONDS = 30.0


def pages() -> APIRouter:
    """Routes of the exports."""
    home = "/projects/{id}/export"
    return router([
        ("GET", home, show_exports), ("GET", f"{home}/decisions.{{format}}", download_decisions),
        ("GET", f"{home}/votes.{{format}}", download_votes), ("GET", f"{home}/check.csv", download_checks),
        ("GET", f"{home}/label-studio.json", download_tasks),
        ("GET", f"{home}/report", show_report), ("GET", f"{home}/report.html", download_report),
    ])  # fmt: skip


def show_exports(id: str, requester: Reading, store: StoreOf) -> Response:
    """Links to all exports."""
    with store.reading() as c:
        return show("export.html", requester, projects.find(c, id))


async def download_decisions(
    id: str, format: str, requester: Reading, store: StoreOf, labelling: LabellingOf
) -> Response:
    """The decision about every item."""
    media_type = _media_type(format)
    decided = await labelling.read(id, exports.project_decisions)
    table = await asyncio.to_thread(exports.decisions_table, decided)
    await asyncio.to_thread(log_export, store, requester.id, id, "decisions", format=format)
    return attachment(exports.write([table], format), f"decisions.{format}", media_type)


def download_votes(id: str, format: str, requester: Reading, store: StoreOf) -> Response:
    """Every vote."""
    media_type = _media_type(format)
    with store.reading() as c:
        spec = projects.find(c, id).spec
    log_export(store, requester.id, id, "votes", format=format)
    return attachment(
        exports.write(exports.votes_tables(store, id, spec), format), f"votes.{format}", media_type
    )


async def download_checks(id: str, requester: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """The items to check next: their names, and an empty column for the class of each."""
    found = await estimate_accuracy(id, labelling)
    if found is None:
        raise NotFoundError("there are no votes yet, and so no items to check")
    spec = (await asyncio.to_thread(_project, store, id)).spec
    names = list(dict.fromkeys(found.to_check))
    empty = pa.nulls(len(names), pa.string())
    gold = {f"gold_{name}" if name else "gold": empty for name in criteria_of(spec)}
    table = pa.table({"name": pa.array(names, pa.string()), **gold})
    return attachment(exports.write([table], "csv"), "check.csv", exports.MEDIA_TYPES["csv"])


def _project(store: Store, id: str) -> Row:
    with store.reading() as c:
        return projects.find(c, id)


def _media_type(format: str) -> str:
    if format not in exports.MEDIA_TYPES:
        raise NotFoundError(f"there is no such format; there are {', '.join(exports.MEDIA_TYPES)}")
    return exports.MEDIA_TYPES[format]


async def download_tasks(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, settings: SettingsOf
) -> Response:
    """All items as Label Studio tasks."""
    project = await asyncio.to_thread(label_studio_sync.find_single_question_project, store, id)
    decided = await labelling.read(id, exports.project_decisions)
    tasks = await asyncio.to_thread(label_studio_sync.export_tasks, store, project, decided, settings.address)
    await asyncio.to_thread(log_export, store, requester.id, id, "label studio tasks")
    return attachment([json.dumps(tasks).encode()], "label-studio.json", "application/json")


async def show_report(id: str, requester: Reading, store: StoreOf) -> Response:
    """Where the report can be saved, once it is made."""
    page = await report_requests.wait_for_report(store, id, max_wait_seconds=PAGE_WAIT_SECONDS)
    with store.reading() as c:
        return show("report.html", requester, projects.find(c, id), ready=page is not None)


async def download_report(id: str, requester: Reading, store: StoreOf) -> Response:
    """The report as a file: it has scripts of its own, which do not run on our pages."""
    page = await report_requests.wait_for_report(store, id, max_wait_seconds=DOWNLOAD_WAIT_SECONDS)
    if page is None:
        raise NotReadyError("the report is still being made; try again in a moment")
    await asyncio.to_thread(log_export, store, requester.id, id, "report")
    return attachment([page.encode()], f"report-{id}.html", "text/html; charset=utf-8")
