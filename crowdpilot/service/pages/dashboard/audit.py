"""Audit page of a project: an expert checks a few decided items, and a bound on the loss of all follows."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import InvalidRequestError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.jobs import audit as audits_job
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    Labelling,
    Reading,
    Requester,
    Writing,
    go,
)
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.store import projects, saved_state
from crowdpilot.service.store.engine import Row, Store

MAX_ITEMS_PER_DRAW = 10_000


def pages() -> APIRouter:
    """Routes of the audit."""
    home = "/projects/{id}/audit"
    return router([
        ("GET", home, show_audit), ("POST", home, draw), ("POST", f"{home}/answer", answer),
        ("GET", f"{home}/remove", confirm_remove), ("POST", f"{home}/remove", remove),
    ])  # fmt: skip


async def show_audit(id: str, requester: Reading, store: StoreOf, labelling: LabellingOf) -> Response:
    """The bound so far, and the next item to check."""
    return await _page(id, requester, store, labelling)


async def _page(
    id: str, requester: Requester, store: Store, labelling: LabellingOf, wrong: str = ""
) -> Response:
    pool = await labelling.read(id, audits_job.read_pool)
    project, audit = await asyncio.to_thread(_read, store, pool)
    shown: dict[str, Any] = {"audit": audit, "decided": len(pool.names), "wrong": wrong}
    return show("audit.html", requester, project, status=422 if wrong else 200, **shown)


def _read(store: Store, pool: audits_job.Pool) -> tuple[Row, dict[str, Any] | None]:
    with store.reading() as c:
        project, begun = projects.find(c, pool.project), saved_state.read_audit(c, pool.project)
    return project, None if begun is None else audits_job.read_summary(store, pool)


async def draw(id: str, form: Form, requester: Labelling, store: StoreOf, labelling: LabellingOf) -> Response:
    """Draw items to be checked."""
    asked = str(form.get("items", "")).strip()
    if not asked.isdecimal() or not 1 <= int(asked) <= MAX_ITEMS_PER_DRAW:
        return await _page(
            id, requester, store, labelling, f"Give a number from 1 to {MAX_ITEMS_PER_DRAW:,}."
        )
    pool = await labelling.read(id, audits_job.read_pool)
    await asyncio.to_thread(audits_job.draw, store, pool, int(asked), None, None, requester.id)
    return go(f"/projects/{id}/audit#check")


async def answer(
    id: str, form: Form, requester: Labelling, store: StoreOf, labelling: LabellingOf
) -> Response:
    """Record the label of the expert for an item, and show the next."""
    item, label = (form.get(name) for name in ("item", "label"))
    if not isinstance(item, str) or not isinstance(label, str):
        raise InvalidRequestError("an answer names an item and its answer; choose one of the buttons")
    pool = await labelling.read(id, audits_job.read_pool)
    await asyncio.to_thread(audits_job.answer, store, pool, {item: label}, requester.id)
    return go(f"/projects/{id}/audit#check")


def confirm_remove(id: str, requester: Reading, store: StoreOf) -> Response:
    """Ask again before an audit is deleted."""
    with store.reading() as c:
        project = projects.find(c, id)
    words = ["All answers of the expert are deleted, and another audit can begin with the decisions of then.",
             "To stop early and begin again until the bound looks good would break its promise."]  # fmt: skip
    return show(
        "confirm.html", requester, project, title="Delete this audit?", words=words, yes="Delete the audit",
        action=f"/projects/{id}/audit/remove", back=f"/projects/{id}/audit",
    )  # fmt: skip


def remove(id: str, requester: Writing, store: StoreOf) -> Response:
    """Delete an audit."""
    audits_job.remove(store, id, requester.id)
    return go(f"/projects/{id}/audit")
