"""Overview of a project: what to do next, how many labels are right, progress, forecast, charts, jobs."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.arrays import Floats
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.access.requester import Reading
from crowdpilot.service.pages.dashboard.formatting import count, money, router, show
from crowdpilot.service.pages.dashboard.overview.audit_claim import claim_of_audit
from crowdpilot.service.pages.dashboard.overview.charts import make_charts
from crowdpilot.service.pages.dashboard.overview.forecast_words import describe_forecast, explain_no_forecast
from crowdpilot.service.pages.dashboard.overview.label_accuracy import estimate_accuracy
from crowdpilot.service.pages.dashboard.overview.next_steps import next_steps, read_supply
from crowdpilot.service.pages.dashboard.recruiting.links import Link, is_loopback, links_of
from crowdpilot.service.project_campaign import fixed_votes
from crowdpilot.service.settings import Settings
from crowdpilot.service.signing import digest
from crowdpilot.service.status.decision_confidence import confidence_in, weighs_votes
from crowdpilot.service.status.item_progress import ItemProgress
from crowdpilot.service.status.project_status import project_summary
from crowdpilot.service.store import items, jobs, projects, statistics
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row, Store

MAX_HARDEST_ITEMS = 6
MAX_JOBS_SHOWN = 5
MAX_LIKELY_CLASSES = 3
SECONDS_PER_STAMP = 600  # after which the page is shown anew even if nothing has changed
JOB_NAMES = {
    "refit": "Find out how good the workers are", "train": "Let the classifier learn",
    "calibration": "Check how sure we may be", "forecast": "Forecast", "audit": "Audit",
    "report": "Write the report", "demo": "Demonstration",
    "completion": "Check whether all is decided", "retention": "Erase personal data",
    "purge": "Remove deleted data from the files", "notifications": "Send you messages",
    "label_studio": "Follow Label Studio",
}  # fmt: skip


def pages() -> APIRouter:
    """Routes of the overview."""
    return router([("GET", "/projects/{id}", show_project), ("GET", "/projects/{id}/live", show_live)])


async def show_project(id: str, requester: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """A project as it is now; the page keeps itself up to date."""
    live, row = await _live(id, store, labelling)
    links = await asyncio.to_thread(_links, labelling.settings, store, row) if requester.labels else []
    is_local = is_loopback(labelling.settings.address)
    fixed = fixed_votes(row.spec["policy"])
    return show("project.html", requester, row, live=live, links=links, is_local=is_local, fixed=fixed)


def _links(settings: Settings, store: Store, project: Row) -> list[Link]:
    with store.reading() as c:
        return links_of(settings, project, invitations.list_all(c, project.id))


async def show_live(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, seen: str = ""
) -> Response:
    """The part of the page that changes; nothing if it is the one that the browser shows."""
    if seen and seen == await asyncio.to_thread(_stamp, store, id):
        return Response(status_code=204)
    live, row = await _live(id, store, labelling)
    return show("live.html", requester, row, live=live)


async def _live(id: str, store: Store, labelling: LabellingOf) -> tuple[dict[str, Any], Row]:
    seen = await asyncio.to_thread(_stamp, store, id)  # first, so that a change after it is seen again
    status = await labelling.read(id, read_status)
    accuracy, audit = await estimate_accuracy(id, labelling), await claim_of_audit(id, labelling)
    stored, row = await asyncio.to_thread(_read_store, store, id, status)
    return {**status, **stored, "accuracy": accuracy, "audit": audit, "seen": seen}, row


def _stamp(store: Store, id: str) -> str:
    with store.reading() as c:
        version = statistics.page_version(c, id, MAX_JOBS_SHOWN)
    return digest(f"{version} {int(time.time() // SECONDS_PER_STAMP)}")[:16]


def read_status(replica: Replica, project: Row) -> dict[str, Any]:
    """Status, class balance and hardest items of the campaign."""
    now = replica.campaign.decide()
    sure = confidence_in(replica.campaign, now)
    summary = project_summary(replica, project)
    unsure = np.where(sure.expected > 1e-6, sure.expected, 0.0)
    order = np.argsort(-unsure, kind="stable")[:MAX_HARDEST_ITEMS]
    classes = [str(name) for name in replica.campaign.classes]
    if replica.campaign.has_criteria:
        classes = ["out", "in"]
    hardest = [
        {"id": replica.item_ids[str(now.items[n])], "name": str(now.items[n]), "votes": int(now.votes[n]),
         "loss": float(sure.expected[n]), "likely": _likely(classes, sure.probs[n])}
        for n in order.tolist() if unsure[n] > 0
    ]  # fmt: skip
    balance = np.bincount(now.codes, minlength=len(classes))[: len(classes)].tolist()
    return {
        "standing": summary["status"], "waiting": summary["waiting"], "guest_caveats": summary["caveats"],
        "classes": classes, "hardest": hardest, "balance": balance,
        "weighs_votes": weighs_votes(replica.campaign),
        "progress": ItemProgress(**summary["progress"]), "supply": read_supply(replica, project.spec),
    }  # fmt: skip


def _likely(classes: list[str], probs: Floats) -> list[tuple[str, float]]:
    """The likeliest classes of an item."""
    best = np.argsort(-probs, kind="stable")[:MAX_LIKELY_CLASSES].tolist()
    return [(classes[k], float(probs[k])) for k in best]


def _read_store(store: Store, id: str, status: dict[str, Any]) -> tuple[dict[str, Any], Row]:
    """Contents of the hardest items, history, jobs and charts, from the tables."""
    with store.reading() as c:
        row = projects.find(c, id)
        content = items.contents(c, [item["id"] for item in status["hardest"]])
        pace, past = statistics.votes_over_time(c, id), statistics.progress_by_votes(c, id)
        last = statistics.last_vote(c, id, time.time())
        recent = jobs.recent(c, id, MAX_JOBS_SHOWN)
        forecast, demo = (jobs.last_done(c, id, kind) for kind in ("forecast", "demo"))
    result = None if forecast is None else forecast.result
    write = partial(money, currency=row.spec["currency"])
    return {
        "hardest": [{**item, "content": content[item["id"]]} for item in status["hardest"]],
        "jobs": [_job(job) for job in recent],
        "steps": next_steps(row, status["progress"], status["supply"], last),
        "forecast": describe_forecast(row, status["standing"]["spent"], result, write),
        "no_forecast": explain_no_forecast(row, result),
        "progress_bar": _progress_bar(status),
        "demo": None if demo is None else demo.result,
        **make_charts(status, row, pace, past),
    }, row


def _progress_bar(status: dict[str, Any]) -> Any:
    progress, n = status["progress"], max(status["progress"].items, 1)
    decided = f"{progress.final:,} decided for good, {progress.settled:,} for now"
    words = f"{decided}, {count(progress.open, 'item')} open"
    return svg_charts.stacked("Progress", [progress.final / n, progress.settled / n], words)


def _job(job: Row) -> dict[str, Any]:
    tones = {"done": "good", "failed": "bad", "running": "info", "queued": ""}
    words = {"done": "done", "failed": "failed", "running": "running", "queued": "waiting"}
    return {"id": job.id, "name": JOB_NAMES.get(job.kind, job.kind), "state": words[job.state],
            "tone": tones[job.state], "error": job.error or "", "when": job.ended or job.created,
            "tries": job.tries}  # fmt: skip
