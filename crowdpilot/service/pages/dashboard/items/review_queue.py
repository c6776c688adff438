"""Review queue: items one after the other by the expected cost of a wrong decision, decided by an expert."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray
from sqlalchemy import Connection

from crowdpilot.service import access, item_reviews
from crowdpilot.service.errors import InvalidRequestError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard.access.requester import Form, Labelling, Reading, Requester, go, may
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.items import reasons
from crowdpilot.service.pages.dashboard.items.item_table import ItemTable, describe_row, read_items
from crowdpilot.service.pages.dashboard.items.labels_of_forms import chosen_labels, class_keys, votes_asked
from crowdpilot.service.status.decision_confidence import decision_rule
from crowdpilot.service.store import items, projects, votes, workers
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import reviews

UNDO_SECONDS = 3600.0  # in which the page offers to undo
MIN_COST = 1e-9  # below which a decision is taken for certain
OVERRIDE, GOLD, ASK_AGAIN, RESOLVE, SKIP = "override", "gold", "ask-again", "resolve", "skip"


class Position(NamedTuple):
    """Where the queue stands: behind an item, by whether it has flags, its cost and its id."""

    flagged: bool
    cost: float
    id: int

    def __str__(self) -> str:
        return f"{int(self.flagged)}:{self.cost!r}:{self.id}"


def parse_position(text: str) -> Position | None:
    """The position that a page sent; None for the beginning, also if it is none.

    Examples
    --------
    >>> parse_position("1:0.25:7"), parse_position("x")
    (Position(flagged=True, cost=0.25, id=7), None)
    """
    flagged, _, rest = text.partition(":")
    cost, _, id = rest.partition(":")
    try:
        return Position(flagged == "1", float(cost), int(id[:18]))
    except ValueError:
        return None


def pages() -> APIRouter:
    """Routes of the review queue."""
    home = "/projects/{id}/review"
    return router([("GET", home, show_queue), ("POST", home, review), ("POST", f"{home}/undo", undo)])


async def show_queue(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, at: str = "", flags: str = "",
    item: int = 0,
) -> Response:  # fmt: skip
    """The next item of the queue behind a position, or a certain one."""
    may(access.LABEL_OPS, requester)
    table = await labelling.read(id, read_items)
    flags_first = flags == "1"
    found = await asyncio.to_thread(_next, store, id, requester, table, parse_position(at), flags_first, item)
    name = found["row"]["name"] if found["row"] else ""
    why, rule = await labelling.read(id, lambda replica, _: _reasons(replica, name))
    project = found.pop("project")
    return show(
        "items/review.html", requester, project, why=why, rule=rule, flags_first=flags_first, at=at,
        keys=class_keys(project.spec), **found,
    )  # fmt: skip


def _reasons(replica: Replica, name: str) -> tuple[list[reasons.Reasons], str]:
    """Why an item is decided so, if there is one, and the rule of the policy, if it has one of its own."""
    return reasons.find_reasons(replica.campaign, name) if name else [], decision_rule(replica.campaign)


def _next(
    store: Store, id: str, requester: Requester, table: ItemTable, position: Position | None,
    flags_first: bool, item: int,
) -> dict[str, Any]:  # fmt: skip
    with store.reading() as c:
        project, flagged = projects.find(c, id), comments.open_flags(c, id)
        queue = make_queue(table, list(flagged), flags_first=flags_first)
        total = len(queue.rows)
        start = 0 if position is None else queue.start_behind(position)
        at = next(iter(np.flatnonzero(queue.ids == item).tolist()), start)
        shown = None if at == total else _shown(c, project, table, queue, at)
        last = last_undoable(c, id, requester)
    return {"project": project, "total": total, "left": total - start, "last": last, "row": shown}


def last_undoable(c: Connection, id: str, requester: Requester) -> Row | None:
    """The last thing that a requester did to one item, if the page offers to undo it."""
    last = reviews.last_review(c, id, requester.id, item_reviews.UNDOABLE)
    return None if last is None or last.time < time.time() - UNDO_SECONDS else last


class Queue(NamedTuple):
    """The items to review in their order; each array has shape `(items,)`."""

    rows: NDArray[np.intp]  # of the table
    flagged: NDArray[np.bool_]  # whether open flags come first and the item has some
    cost: NDArray[np.float64]
    ids: NDArray[np.int64]

    def position(self, n: int) -> Position:
        """That of the n-th item."""
        return Position(bool(self.flagged[n]), float(self.cost[n]), int(self.ids[n]))

    def start_behind(self, position: Position) -> int:
        """The number of items that come before the next one behind a position."""
        same = self.flagged == position.flagged
        dearer = (self.cost > position.cost) | ((self.cost == position.cost) & (self.ids <= position.id))
        before = (self.flagged & (not position.flagged)) | (same & dearer)
        return int(before.sum())


def make_queue(table: ItemTable, with_flags: Sequence[int], *, flags_first: bool) -> Queue:
    """Items that are neither certain nor known, and those with open flags; the highest cost first."""
    has_flags = np.isin(table.ids, with_flags)
    rows = np.flatnonzero((~table.certain & (table.expected > MIN_COST)) | has_flags)
    first = has_flags[rows] & flags_first
    order = np.lexsort((table.ids[rows], -table.expected[rows], ~first))
    rows = rows[order]
    return Queue(rows, first[order], table.expected[rows], table.ids[rows])


def _shown(c: Connection, project: Row, table: ItemTable, queue: Queue, at: int) -> dict[str, Any]:
    n = int(queue.rows[at])
    row = describe_row(table, n, items.contents(c, [int(table.ids[n])]))
    answers, said = votes.answers_about(c, row["id"]), comments.about(c, project.id, row["id"])
    known = workers.find_many(c, project.id, [vote.worker for vote in answers])
    criteria = [criterion["name"] for criterion in project.spec["criteria"]] or [""]
    classes = project.spec["classes"]
    return {
        **row, "position": str(queue.position(at)),
        "answers": [
            {"worker": vote.worker, "question": criteria[vote.criterion], "kind": known[vote.worker].kind,
             "label": "can’t tell" if vote.label is None else classes[vote.label]}
            for vote in answers
        ],
        "comments": [
            {"worker": one.worker, "text": one.text, "flagged": one.flagged, "resolved": one.resolved}
            for one in said
        ],
        "open_comments": sum(one.resolved is None for one in said),
    }  # fmt: skip


async def review(id: str, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Do what was chosen with an item, and go on to the next; one whose flags are resolved stays."""
    action, name = str(form.get("action") or OVERRIDE), str(form.get("item") or "")
    address = _address(id, str(form.get("position") or ""), str(form.get("flags") or ""))
    if action == RESOLVE:
        return go(f"{address}&item={await asyncio.to_thread(_resolve, store, id, requester, name)}")
    if action != SKIP:
        await asyncio.to_thread(_review, store, id, form, requester, action, name)
    return go(address)


def _resolve(store: Store, id: str, requester: Requester, name: str) -> int:
    with store.reading() as c:
        item = int(items.require_named(c, id, [name])[name].id)
    item_reviews.resolve(store, id, requester.access, item)
    return item


def _review(store: Store, id: str, form: Form, requester: Requester, action: str, name: str) -> None:
    with store.reading() as c:
        spec = projects.find(c, id).spec
    if action == ASK_AGAIN:
        item_reviews.ask_again(store, id, requester.access, [name], votes_asked(form))
        return
    labels = chosen_labels(form, spec)
    if not labels or action not in (OVERRIDE, GOLD):
        raise InvalidRequestError("choose an answer first, then confirm it")
    if action == GOLD:
        may(access.WRITE, requester)
        item_reviews.make_gold(store, id, requester.access, {name: labels})
    else:
        item_reviews.override(store, id, requester.access, {name: labels})


async def undo(id: str, form: Form, requester: Labelling, store: StoreOf) -> Response:
    """Undo the last decision of this requester, and show its item again."""
    item = await asyncio.to_thread(item_reviews.undo, store, id, requester.access)
    address = _address(id, str(form.get("position") or ""), str(form.get("flags") or ""))
    return go(f"{address}&item={item}")


def _address(id: str, position: str, flags: str) -> str:
    return f"/projects/{id}/review?" + urlencode({"at": position[:80], "flags": "1" if flags == "1" else ""})
