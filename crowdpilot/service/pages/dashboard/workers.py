"""Workers page of a project: skill, speed, flags and pay; approve and block workers."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import requester_actions
from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.exports import write
from crowdpilot.service.http.auth import LabellingOf, StoreOf, WorkerId
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.labelling import pay, worker_quality
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.access.requester import Labelling, Reading, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Row, Store

STATE_NAMES = {"new": "not started", "active": "active", "blocked": "blocked", "erased": "data erased"}
CHANGES = {"approve": requester_actions.approve, "block": requester_actions.block,
           "unblock": requester_actions.unblock}  # fmt: skip


def pages() -> APIRouter:
    """Routes about workers."""
    home = "/projects/{id}/workers"
    return router([
        ("GET", home, show_workers), ("GET", f"{home}/pay.csv", download_pay),
        ("POST", f"{home}/approve", approve_all), ("POST", f"{home}/{{worker}}/{{change}}", change_worker),
    ])  # fmt: skip


async def show_workers(id: str, requester: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """All workers with their quality and their pay."""
    seen = await labelling.read(id, worker_quality.read_votes)
    project, rows = await asyncio.to_thread(_table, store, id, seen)
    owed = {yes: sum(row["pay"] for row in rows if row["approved"] is yes) for yes in (True, False)}
    shown = {"rows": rows, "approved": owed[True], "waiting": owed[False]}
    return show("workers.html", requester, project, **shown, span=svg_charts.span)


def _table(store: Store, id: str, seen: worker_quality.VotesAndPosterior) -> tuple[Row, list[dict[str, Any]]]:
    """All workers with their pay, those with the most votes first."""
    quality = worker_quality.list_workers(store, id, worker_quality.worker_skills(seen))
    with store.reading() as c:
        project, amounts = projects.find(c, id), {row.worker: row.amount for row in pay.list_pay(c, id)}
    rows = [
        {**row, "pay": amounts.get(row["worker"], 0.0), "words": STATE_NAMES[row["state"]]} for row in quality
    ]
    return project, sorted(rows, key=lambda row: -row["votes"])


def download_pay(id: str, requester: Reading, store: StoreOf) -> Response:
    """The pay of each worker, as a table for a spreadsheet."""
    with store.reading() as c:
        rows = pay.list_pay(c, id)
    log_export(store, requester.id, id, "pay")
    return attachment(write([pay.to_table(rows)], "csv"), f"pay-{id}.csv", "text/csv")


def change_worker(id: str, worker: WorkerId, change: str, requester: Labelling, store: StoreOf) -> Response:
    """Approve, block or unblock a worker."""
    if change not in CHANGES:
        raise NotFoundError("there is no such change; workers are approved, blocked, unblocked or erased")
    CHANGES[change](store, id, requester.id, worker)
    return go(f"/projects/{id}/workers#worker-{worker}")


def approve_all(id: str, requester: Labelling, store: StoreOf) -> Response:
    """Approve everybody who has answered and is not blocked."""
    requester_actions.approve_all(store, id, requester.id)
    return go(f"/projects/{id}/workers")
