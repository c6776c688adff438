"""Workers of a project: skill, speed and flags; whom to pay, whom to block, whom to forget."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.exports import write
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.http.routes import workers as api
from crowdpilot.service.http.routes.exports import attached
from crowdpilot.service.http.routes.workers import Number
from crowdpilot.service.labelling import pay, worker_quality
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.formatting import go, router, show
from crowdpilot.service.pages.dashboard.sign_in import Reading, Writing
from crowdpilot.service.store import keys, projects, workers
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

STATES = {"new": "not started", "active": "active", "blocked": "blocked", "erased": "data erased"}
CHANGES = {"approve": api.post_approve, "block": api.post_block, "unblock": api.post_unblock,
           "erase": api.delete_worker}  # fmt: skip


def pages() -> APIRouter:
    """Routes about workers."""
    home = "/projects/{id}/workers"
    return router([
        ("GET", home, see_workers), ("GET", f"{home}/pay.csv", pay_list),
        ("POST", f"{home}/approve", approve_all), ("GET", f"{home}/{{worker}}/erase", ask_erase),
        ("POST", f"{home}/{{worker}}/{{change}}", change_worker),
    ])  # fmt: skip


async def see_workers(id: str, who: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """Everybody who came, and what they are owed."""
    seen = await labelling.look(id, worker_quality.look)
    project, rows = await asyncio.to_thread(_table, store, id, seen)
    owed = {yes: sum(row["pay"] for row in rows if row["approved"] is yes) for yes in (True, False)}
    shown = {"rows": rows, "approved": owed[True], "waiting": owed[False]}
    return show("workers.html", who, project, **shown, span=svg_charts.span)


def _table(store: Store, id: str, seen: worker_quality.Seen) -> tuple[Record, list[dict[str, Any]]]:
    """All workers with their pay, who did most first."""
    found = worker_quality.listed(store, id, worker_quality.judge(seen))
    with store.reading() as c:
        project, dues = projects.find(c, id), {due.worker: due.amount for due in pay.list_pay(c, id)}
    rows = [{**row, "pay": dues.get(row["worker"], 0.0), "words": STATES[row["state"]]} for row in found]
    return project, sorted(rows, key=lambda row: -row["votes"])


def pay_list(id: str, who: Reading, store: StoreOf) -> Response:
    """What is due to each worker, as a table for a spreadsheet."""
    with store.reading() as c:
        dues = pay.list_pay(c, id)
    return attached(write([pay.to_table(dues)], "csv"), f"pay-{id}", "csv")


def ask_erase(id: str, worker: Number, who: Reading, store: StoreOf) -> Response:
    """Ask again before a worker is forgotten."""
    with store.reading() as c:
        project, row = projects.find(c, id), workers.find(c, id, worker)
    words = [
        "Their name on the platform, their assignment and their consent are deleted. They cannot come back.",
        "Their votes stay, under a number that leads nowhere. This cannot be undone.",
    ]
    return show(
        "confirm.html", who, project, title=f"Erase the personal data of worker {row.id}?", words=words,
        yes="Erase the data", action=f"/projects/{id}/workers/{worker}/erase", back=f"/projects/{id}/workers",
    )  # fmt: skip


def change_worker(id: str, worker: Number, change: str, who: Writing, store: StoreOf) -> Response:
    """Approve, block, let back in, or erase a worker."""
    if change not in CHANGES:
        raise NotFoundError("there is no such change; workers are approved, blocked, unblocked or erased")
    CHANGES[change](id, worker, store, who.key)
    return go(f"/projects/{id}/workers#worker-{worker}")


def approve_all(id: str, who: Writing, store: StoreOf) -> Response:
    """Approve everybody who has answered and is not blocked."""
    with store.writing() as c:
        blocked = {row.id for row in workers.listed(c, id) if row.state == workers.BLOCKED}
        chosen = [d.worker for d in pay.list_pay(c, id) if not d.approved and d.worker not in blocked]
        for worker in chosen:
            workers.put(c, id, worker, approved=True)
        keys.note(c, who.id, "approve workers", id, workers=len(chosen))
    return go(f"/projects/{id}/workers")
