"""Exports of a project: decisions, votes, report, and what other programs read."""

from __future__ import annotations

import json

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import exports
from crowdpilot.service.errors import NotFoundError, NotReadyError
from crowdpilot.service.http.auth import LabellingOf, SettingsOf, StoreOf
from crowdpilot.service.http.routes.analyses import get_report
from crowdpilot.service.http.routes.exports import get_decisions, get_votes
from crowdpilot.service.http.routes.label_studio import get_tasks
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.sign_in import Reading
from crowdpilot.service.store import projects

WAIT = 1.5  # seconds for which a report is waited for before the page says so


def pages() -> APIRouter:
    """Routes of the exports."""
    home = "/projects/{id}/export"
    return router([
        ("GET", home, see_exports), ("GET", f"{home}/decisions.{{format}}", decisions),
        ("GET", f"{home}/votes.{{format}}", votes), ("GET", f"{home}/label-studio.json", label_studio),
        ("GET", f"{home}/report", report), ("GET", f"{home}/report.html", report_file),
    ])  # fmt: skip


def see_exports(id: str, who: Reading, store: StoreOf) -> Response:
    """What can be taken home."""
    with store.reading() as c:
        return show("export.html", who, projects.find(c, id))


async def decisions(id: str, format: str, who: Reading, labelling: LabellingOf) -> Response:
    """The decision about every item."""
    return await get_decisions(id, who.key, labelling, _known(format))


def votes(id: str, format: str, who: Reading, store: StoreOf) -> Response:
    """Every vote."""
    return get_votes(id, who.key, store, _known(format))


def _known(format: str) -> str:
    if format not in exports.TYPES:
        raise NotFoundError(f"there is no such format; there are {', '.join(exports.TYPES)}")
    return format


async def label_studio(
    id: str, who: Reading, store: StoreOf, labelling: LabellingOf, settings: SettingsOf
) -> Response:
    """All items as tasks to be imported there."""
    tasks = await get_tasks(id, labelling, store, settings, who.key)
    return Response(json.dumps(tasks), headers=_saved("label-studio.json"), media_type="application/json")


async def report(id: str, who: Reading, store: StoreOf) -> Response:
    """Where the report can be saved, once it is made."""
    ready = (await get_report(id, store, who.key, "", WAIT)).status_code == 200
    with store.reading() as c:
        return show("report.html", who, projects.find(c, id), ready=ready)


async def report_file(id: str, who: Reading, store: StoreOf) -> Response:
    """The report as a file: it has scripts of its own, which do not run on our pages."""
    found = await get_report(id, store, who.key, "", 30.0)
    if found.status_code != 200:
        raise NotReadyError("the report is still being made; try again in a moment")
    found.headers.update(_saved(f"report-{id}.html"))
    return found


def _saved(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
