"""The live picture of a project: numbers, charts, hardest items, jobs, and links for workers."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.arrays import Floats
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.project_charts import drawn
from crowdpilot.service.pages.dashboard.sign_in import Reading
from crowdpilot.service.pages.dashboard.worker_links import links_of
from crowdpilot.service.project_status import of_project
from crowdpilot.service.signing import digest
from crowdpilot.service.store import history, items, jobs, projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

HARDEST = 6
JOBS = 5
NAMES = {
    "refit": "Learn workers anew", "train": "Train the machine", "calibrate": "Calibrate the machine",
    "forecast": "Forecast", "audit": "Audit", "report": "Write the report",
    "settle": "See whether all is decided", "courier": "Tell webhooks",
}  # fmt: skip


def pages() -> APIRouter:
    """Routes of the picture."""
    return router([("GET", "/projects/{id}", see_project), ("GET", "/projects/{id}/live", see_live)])


async def see_project(id: str, who: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """A project as it is now; the page keeps itself up to date."""
    live, row = await _live(id, store, labelling)
    return show("project.html", who, row, live=live, links=links_of(labelling.settings, row))


async def see_live(id: str, who: Reading, store: StoreOf, labelling: LabellingOf, seen: str = "") -> Response:
    """What changes on the page of a project; nothing if all of it has been seen."""
    if seen and seen == await asyncio.to_thread(_stamp, store, id):
        return Response(status_code=204)
    live, row = await _live(id, store, labelling)
    return show("live.html", who, row, **live)


async def _live(id: str, store: Store, labelling: LabellingOf) -> tuple[dict[str, Any], Record]:
    seen = await asyncio.to_thread(_stamp, store, id)  # first, so that a change after it is seen again
    picture = await labelling.look(id, see)
    kept, row = await asyncio.to_thread(_kept, store, id, picture)
    return {**picture, **kept, "seen": seen}, row


def _stamp(store: Store, id: str) -> str:
    with store.reading() as c:
        return digest(history.stamp(c, id, JOBS))[:16]


def see(replica: Replica, project: Record) -> dict[str, Any]:
    """What the campaign says: where it stands, which classes, and what is hardest."""
    now = replica.campaign.decide()
    status = of_project(replica, project)["status"]
    unsure = np.where(now.expected > 1e-6, now.expected, 0.0)
    order = np.argsort(-unsure, kind="stable")[:HARDEST]
    classes = [str(name) for name in replica.campaign.classes]
    if replica.campaign.several:
        classes = ["out", "in"]
    hardest = [
        {"id": replica.ids[str(now.items[n])], "name": str(now.items[n]), "votes": int(now.votes[n]),
         "loss": float(now.expected[n]), "likely": _likely(classes, now.probs[n])}
        for n in order.tolist() if unsure[n] > 0
    ]  # fmt: skip
    balance = np.bincount(now.codes, minlength=len(classes))[: len(classes)].tolist()
    return {
        "standing": status, "classes": classes, "hardest": hardest, "balance": balance,
        "decided": status["done"] + status["closed"], "all": status["items"] - status["withdrawn"],
    }  # fmt: skip


def _likely(classes: list[str], probs: Floats) -> list[tuple[str, float]]:
    """The likeliest classes of an item."""
    best = np.argsort(-probs, kind="stable")[:3].tolist()
    return [(classes[k], float(probs[k])) for k in best]


def _kept(store: Store, id: str, picture: dict[str, Any]) -> tuple[dict[str, Any], Record]:
    """What the tables say."""
    with store.reading() as c:
        row = projects.find(c, id)
        content = items.contents(c, [item["id"] for item in picture["hardest"]])
        pace, progress = history.pace(c, id), history.progress(c, id)
        recent, forecast = history.recent_jobs(c, id, JOBS), jobs.last(c, id, "forecast")
        bound = history.bound(c, id)
    hardest = [{**item, "content": content[item["id"]]} for item in picture["hardest"]]
    charts = drawn(picture, row, pace, progress, None if forecast is None else forecast.result)
    return {
        "hardest": hardest,
        "jobs": [_job(job) for job in recent],
        "bound": bound,
        **charts,
    }, row


def _job(job: Record) -> dict[str, Any]:
    tones = {"done": "good", "failed": "bad", "running": "info", "queued": ""}
    words = {"done": "done", "failed": "failed", "running": "running", "queued": "waiting"}
    return {"id": job.id, "name": NAMES.get(job.kind, job.kind), "state": words[job.state],
            "tone": tones[job.state], "error": job.error or "", "when": job.ended or job.created,
            "tries": job.tries}  # fmt: skip
