"""Export pages of a project: tables, archives of items with labels, report, and Label Studio tasks."""

from __future__ import annotations

import asyncio
import json
import re

import pyarrow as pa
from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from crowdpilot.service import exports
from crowdpilot.service.errors import InvalidRequestError, NotFoundError, NotReadyError
from crowdpilot.service.exports.archives import ZIP
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.http.responses import attachment, report_headers
from crowdpilot.service.jobs import report_requests
from crowdpilot.service.label_studio import importing
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.pages.dashboard.access.requester import Reading, Requester
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.overview.label_accuracy import estimate_accuracy
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
        ("GET", f"{home}/comments.{{format}}", download_comments),
        ("GET", f"{home}/class-folders.zip", download_class_folders),
        ("GET", f"{home}/hugging-face.zip", download_hugging_face),
        ("GET", f"{home}/argilla.zip", download_argilla),
        ("GET", f"{home}/report", show_report), ("GET", f"{home}/report.html", download_report),
        ("GET", f"{home}/report/open", open_report),
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
        raise NotFoundError("there are no answers yet, and so no items to check")
    spec = (await asyncio.to_thread(_project, store, id)).spec
    names = list(dict.fromkeys(found.to_check))
    empty = pa.nulls(len(names), pa.string())
    gold = {f"gold_{name}" if name else "gold": empty for name in criteria_of(spec)}
    table = pa.table({"name": pa.array(names, pa.string()), **gold})
    return attachment(exports.write([table], "csv"), "check.csv", exports.MEDIA_TYPES["csv"])


def download_comments(id: str, format: str, requester: Reading, store: StoreOf) -> Response:
    """What workers say about items."""
    media_type = _media_type(format)
    table = exports.comments_table(store, id, _project(store, id).spec)
    log_export(store, requester.id, id, "comments", format=format)
    return attachment(exports.write([table], format), f"comments.{format}", media_type)


async def download_class_folders(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, confidence: str = ""
) -> Response:
    """All items in folders by their labels."""
    return await _archive("class-folders", id, requester, store, labelling, confidence)


async def download_hugging_face(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, confidence: str = ""
) -> Response:
    """All items in the layout of Hugging Face."""
    return await _archive("hugging-face", id, requester, store, labelling, confidence)


async def download_argilla(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, confidence: str = ""
) -> Response:
    """All items for Argilla, with labels as suggestions."""
    return await _archive("argilla", id, requester, store, labelling, confidence)


async def _archive(
    name: exports.Archive, id: str, requester: Requester, store: Store, labelling: LabellingService,
    confidence: str,
) -> Response:  # fmt: skip
    least = read_percent(confidence)
    decided = await labelling.read(id, exports.project_decisions)
    project = await asyncio.to_thread(_project, store, id)
    address = labelling.settings.address
    pieces = await asyncio.to_thread(exports.make_archive, name, store, project, decided, least, address)
    await asyncio.to_thread(log_export, store, requester.id, id, name, confidence=least)
    return attachment(pieces, f"{name}.zip", ZIP)


def read_percent(typed: str) -> float:
    """A probability that was typed as a percentage; an `InvalidRequestError` if it is none.

    Examples
    --------
    >>> read_percent("90 %"), read_percent("")
    (0.9, 0.0)
    """
    digits = typed.replace("%", "").replace(",", ".").strip()
    if not digits:
        return 0.0
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", digits, re.ASCII) or float(digits) > 100:
        raise InvalidRequestError("the lowest probability is no percentage; write a number from 0 to 100")
    return float(digits) / 100


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
    project = await asyncio.to_thread(importing.find_single_question_project, store, id)
    decided = await labelling.read(id, exports.project_decisions)
    tasks = await asyncio.to_thread(importing.export_tasks, store, project, decided, settings.address)
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


async def open_report(id: str, requester: Reading, store: StoreOf) -> Response:
    """The report in the browser: in a sandbox, where it can reach neither our pages nor the network."""
    page = await report_requests.wait_for_report(store, id, max_wait_seconds=DOWNLOAD_WAIT_SECONDS)
    if page is None:
        raise NotReadyError("the report is still being made; try again in a moment")
    await asyncio.to_thread(log_export, store, requester.id, id, "report", opened=True)
    return HTMLResponse(page, headers=report_headers(page))
