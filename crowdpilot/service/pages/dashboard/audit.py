"""The audit of a project: an expert checks a few decided items, and a bound says how wrong all may be."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import InvalidRequestError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.jobs import audit as audits_job
from crowdpilot.service.pages.dashboard.formatting import go, router, show
from crowdpilot.service.pages.dashboard.sign_in import Reading, Requester, Sent, Writing
from crowdpilot.service.store import audits, projects
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.row import Record

MOST = 10_000  # items that are drawn at once


def pages() -> APIRouter:
    """Routes of the audit."""
    home = "/projects/{id}/audit"
    return router([
        ("GET", home, see_audit), ("POST", home, draw), ("POST", f"{home}/answer", answer),
        ("GET", f"{home}/remove", ask_remove), ("POST", f"{home}/remove", remove),
    ])  # fmt: skip


async def see_audit(id: str, who: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """What is proved so far, and the next item to check."""
    return await _page(id, who, store, labelling)


async def _page(id: str, who: Requester, store: Store, labelling: LabellingOf, wrong: str = "") -> Response:
    pool = await labelling.look(id, audits_job.look)
    project, audit = await asyncio.to_thread(_read, store, pool)
    shown: dict[str, Any] = {"audit": audit, "decided": len(pool.names), "wrong": wrong}
    return show("audit.html", who, project, status=422 if wrong else 200, **shown)


def _read(store: Store, pool: audits_job.Pool) -> tuple[Record, dict[str, Any] | None]:
    with store.reading() as c:
        project, begun = projects.find(c, pool.project), audits.read(c, pool.project)
    return project, None if begun is None else audits_job.view(store, pool)


async def draw(id: str, sent: Sent, who: Writing, store: StoreOf, labelling: LabellingOf) -> Response:
    """Draw items to be checked."""
    asked = str(sent.get("items", "")).strip()
    if not asked.isdecimal() or not 1 <= int(asked) <= MOST:
        return await _page(id, who, store, labelling, f"Give a number from 1 to {MOST:,}.")
    pool = await labelling.look(id, audits_job.look)
    await asyncio.to_thread(audits_job.draw, store, pool, int(asked), None, None, who.id)
    return go(f"/projects/{id}/audit#check")


async def answer(id: str, sent: Sent, who: Writing, store: StoreOf, labelling: LabellingOf) -> Response:
    """Take what the expert says of an item, and show the next."""
    item, label = (sent.get(name) for name in ("item", "label"))
    if not isinstance(item, str) or not isinstance(label, str):
        raise InvalidRequestError("an answer names an item and its class; choose one of the buttons")
    pool = await labelling.look(id, audits_job.look)
    await asyncio.to_thread(audits_job.answer, store, pool, {item: label}, who.id)
    return go(f"/projects/{id}/audit#check")


def ask_remove(id: str, who: Reading, store: StoreOf) -> Response:
    """Ask again before an audit is forgotten."""
    with store.reading() as c:
        project = projects.find(c, id)
    words = ["All answers of the expert are deleted, and another audit can begin with what is decided then.",
             "To stop early and begin again until the bound looks good would break its promise."]  # fmt: skip
    return show(
        "confirm.html", who, project, title="Forget this audit?", words=words, yes="Forget the audit",
        action=f"/projects/{id}/audit/remove", back=f"/projects/{id}/audit",
    )  # fmt: skip


def remove(id: str, who: Writing, store: StoreOf) -> Response:
    """Forget an audit."""
    audits_job.remove(store, id, who.id)
    return go(f"/projects/{id}/audit")
