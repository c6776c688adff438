"""Blocking: what would change, a choice about the votes of the worker; approve and unblock."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import access, requester_actions
from crowdpilot.service.errors import InvalidRequestError, NotFoundError
from crowdpilot.service.http.auth import LabellingOf, StoreOf, WorkerId
from crowdpilot.service.labelling.workers import block_preview
from crowdpilot.service.pages.dashboard.access.requester import Form, Labelling, Reading, go, may
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.store import items, projects, workers
from crowdpilot.service.store.engine import Row, Store

CHANGES = {"approve": requester_actions.approve, "unblock": requester_actions.unblock}
CHOICES = requester_actions.KEEP, requester_actions.LEAVE_OUT


def pages() -> APIRouter:
    """Routes about blocking."""
    one = "/projects/{id}/workers/{worker}"
    return router([
        ("GET", f"{one}/block", confirm_block), ("POST", f"{one}/block", block),
        ("POST", f"{one}/{{change}}", change_worker),
    ])  # fmt: skip


async def confirm_block(
    id: str, worker: WorkerId, requester: Reading, store: StoreOf, labelling: LabellingOf
) -> Response:
    """What would change, before somebody is blocked."""
    may(access.LABEL_OPS, requester)
    project, row = await asyncio.to_thread(_find, store, id, worker)
    copy = await labelling.read(id, block_preview.copy_campaign)
    found = await asyncio.to_thread(block_preview.preview_block, copy, worker)
    ids = await asyncio.to_thread(_ids, store, id, [changed.item for changed in found.examples])
    return show("workers/block.html", requester, project, row=row, found=found, ids=ids)


def _find(store: Store, id: str, worker: int) -> tuple[Row, Row]:
    with store.reading() as c:
        return projects.find(c, id), workers.find(c, id, worker)


def _ids(store: Store, id: str, names: list[str]) -> dict[str, int]:
    with store.reading() as c:
        return items.ids_by_name(c, id, names)


def block(id: str, worker: WorkerId, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Block a worker, and keep or leave out their votes."""
    votes = str(form.get("votes") or requester_actions.KEEP)
    if votes not in CHOICES:
        raise InvalidRequestError("choose whether the answers are kept or left out")
    requester_actions.block(store, id, requester.id, worker, votes)
    return go(f"/projects/{id}/workers/{worker}")


def change_worker(id: str, worker: WorkerId, change: str, requester: Labelling, store: StoreOf) -> Response:
    """Approve or unblock a worker."""
    if change not in CHANGES:
        raise NotFoundError("there is no such change; workers are approved, blocked, unblocked or erased")
    CHANGES[change](store, id, requester.id, worker)
    return go(f"/projects/{id}/workers/{worker}")
