"""Check queue: the items that tell most about the accuracy of all labels, one after the other, become gold.

Their ids are in the address, so that the list stays the same while the accuracy changes with each answer.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import access, item_reviews
from crowdpilot.service.errors import InvalidRequestError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go, may
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.items.labels_of_forms import chosen_labels, class_keys
from crowdpilot.service.pages.dashboard.items.review_queue import last_undoable
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.engine import Row, Store

MAX_ITEMS = 500  # of one list
GOLD, SKIP = "gold", "skip"


class Check(NamedTuple):
    """An item to check, and whether something about it is unknown."""

    id: int
    name: str
    is_open: bool


def pages() -> APIRouter:
    """Routes of the check queue."""
    home = "/projects/{id}/check"
    return router([("GET", home, show_check), ("POST", home, check), ("POST", f"{home}/undo", undo)])


def parse_ids(text: str) -> list[int]:
    """The ids that a page sent, each once; whatever else is there is left out.

    Examples
    --------
    >>> parse_ids("7,3,x,7")
    [7, 3]
    """
    ids = [int(id) for id in text.split(",") if re.fullmatch(r"[0-9]{1,18}", id)]
    return list(dict.fromkeys(ids))[:MAX_ITEMS]


async def show_check(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf, items: str = "", at: int = 0,
    item: int = 0,
) -> Response:  # fmt: skip
    """The next item of the list behind another one, or a certain one."""
    may(access.WRITE, requester)
    checks = await labelling.read(id, lambda replica, _: find_checks(replica, parse_ids(items)))
    project, shown = await asyncio.to_thread(_next, store, id, requester, checks, at, item)
    chosen = ",".join(str(one.id) for one in checks)
    return show(
        "items/check.html", requester, project, chosen=chosen, at=at, keys=class_keys(project.spec), **shown
    )


def find_checks(replica: Replica, ids: list[int]) -> list[Check]:
    """The items of a list that are still in the project, in its order."""
    known = [(id, replica.item_names[id]) for id in ids if id in replica.item_names]
    view = replica.campaign.view
    rows, table = view.item_rows([name for _, name in known]), view.items()
    certain = ((table.gold[rows] >= 0) | (table.override[rows] >= 0)).all(axis=1)
    is_open = np.asarray(~certain & ~table.withdrawn[rows])
    return [Check(id, name, open_) for (id, name), open_ in zip(known, is_open.tolist(), strict=True)]


def _next(
    store: Store, id: str, requester: Requester, checks: list[Check], at: int, item: int
) -> tuple[Row, dict[str, Any]]:
    index_of = {one.id: n for n, one in enumerate(checks)}
    left = [one for one in checks[index_of.get(at, -1) + 1 :] if one.is_open]
    chosen = checks[index_of[item]] if item in index_of else next(iter(left), None)
    with store.reading() as c:
        content = items.contents(c, [] if chosen is None else [chosen.id])
        project, last = projects.find(c, id), last_undoable(c, id, requester)
    row = None if chosen is None else {**chosen._asdict(), "content": content[chosen.id]}
    n_open = sum(one.is_open for one in checks)
    return project, {
        "row": row, "last": last, "total": len(checks), "left": len(left), "skipped": n_open - len(left)
    }  # fmt: skip


async def check(id: str, form: Form, requester: Writing, store: StoreOf) -> Response:
    """Make the class of an item known, or skip it, and go on to the next."""
    if form.get("action") != SKIP:
        await asyncio.to_thread(_make_gold, store, id, form, requester)
    return go(_address(id, form, str(form.get("id") or "")))


def _make_gold(store: Store, id: str, form: Form, requester: Requester) -> None:
    with store.reading() as c:
        labels = chosen_labels(form, projects.find(c, id).spec)
    if not labels or form.get("action") != GOLD:
        raise InvalidRequestError("choose an answer first, then confirm it")
    item_reviews.make_gold(store, id, requester.access, {str(form.get("item") or ""): labels})


async def undo(id: str, form: Form, requester: Writing, store: StoreOf) -> Response:
    """Undo the last decision of this requester, and show its item again."""
    item = await asyncio.to_thread(item_reviews.undo, store, id, requester.access)
    return go(f"{_address(id, form, str(form.get('at') or ''))}&item={item}")


def _address(id: str, form: Form, at: str) -> str:
    chosen = ",".join(map(str, parse_ids(str(form.get("items") or ""))))
    return f"/projects/{id}/check?" + urlencode({"items": chosen, "at": at if at.isdecimal() else "0"})
