"""Items pages of a project: search, decisions with their probabilities, and all votes on one item."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter
from fastapi.responses import Response
from numpy.typing import NDArray

from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.access.requester import Reading
from crowdpilot.service.pages.dashboard.formatting import percent, router, show
from crowdpilot.service.pages.dashboard.svg_charts import Bar
from crowdpilot.service.store import items, projects, votes, workers
from crowdpilot.service.store.engine import Row, Store

ITEMS_PER_PAGE = 25
MAX_QUERY_CHARACTERS = 200
FILTERS = {"": "All", "decided": "Decided", "open": "Open", "gold": "Gold"}
ORDERS = {"": "As they came", "hard": "Hardest first", "votes": "Most votes first"}


class ItemTable(NamedTuple):
    """Decisions about all items that are not withdrawn; each array has shape `(items,)`."""

    ids: NDArray[np.int64]
    names: NDArray[Any]
    labels: list[str]
    codes: NDArray[np.int32]
    probs: NDArray[np.float64]  # of the decided class
    expected: NDArray[np.float64]  # loss
    votes: NDArray[np.int32]
    done: NDArray[np.bool_]
    gold: NDArray[np.bool_]


def pages() -> APIRouter:
    """Routes about items."""
    return router(
        [("GET", "/projects/{id}/items", show_items), ("GET", "/projects/{id}/items/{item}", show_item)]
    )


async def show_items(
    id: str,
    requester: Reading,
    store: StoreOf,
    labelling: LabellingOf,
    q: str = "",
    only: str = "",
    order: str = "",
    page: int = 1,
) -> Response:
    """A page of a table of items."""
    table = await labelling.read(id, read_items)
    only, order = only if only in FILTERS else "", order if order in ORDERS else ""
    q = q.strip()[:MAX_QUERY_CHARACTERS]
    query = q, only, order, page
    project, rows, total, page, last = await asyncio.to_thread(_search, store, id, table, *query)
    shown: dict[str, Any] = {"q": q, "only": only, "order": order, "page": page, "last": last, "total": total}
    return show("items.html", requester, project, rows=rows, filters=FILTERS, orders=ORDERS, **shown)


def read_items(replica: Replica, _: Row | None = None) -> ItemTable:
    """The decisions of the campaign about all items."""
    campaign = replica.campaign
    now = campaign.decide()
    items = campaign.view.items()
    kept = ~items.withdrawn
    gold = np.asarray((items.gold >= 0).any(axis=1))
    names = now.items.tolist()
    ids = np.fromiter((replica.item_ids[name] for name in names), np.int64, len(names))
    labels = ["out", "in"] if campaign.has_criteria else [str(name) for name in campaign.classes]
    over = now.done | (items.final[kept] >= 0)
    probs = now.probs[np.arange(len(names)), np.minimum(now.codes, now.probs.shape[1] - 1)]
    return ItemTable(ids, now.items, labels, now.codes, probs, now.expected, now.votes, over, gold[kept])


def _search(
    store: Store, id: str, table: ItemTable, q: str, only: str, order: str, page: int
) -> tuple[Row, list[dict[str, Any]], int, int, int]:
    with store.reading() as c:
        project = projects.find(c, id)
        mask = {"decided": table.done, "open": ~table.done, "gold": table.gold}.get(
            only, np.ones(len(table.ids), bool)
        )
        if q:
            mask = mask & np.isin(table.ids, list(items.search(c, id, q)))
        rows = np.flatnonzero(mask)
        if order:
            keys = table.expected if order == "hard" else table.votes
            rows = rows[np.argsort(-keys[rows], kind="stable")]
        last = max(1, -(-len(rows) // ITEMS_PER_PAGE))
        page = min(max(page, 1), last)
        rows = rows[(page - 1) * ITEMS_PER_PAGE : page * ITEMS_PER_PAGE]
        content = items.contents(c, table.ids[rows].tolist())
    return project, [_row(table, n, content) for n in rows.tolist()], int(mask.sum()), page, last


def _row(table: ItemTable, n: int, content: dict[int, dict[str, Any]]) -> dict[str, Any]:
    id = int(table.ids[n])
    return {"id": id, "name": str(table.names[n]), "content": content[id],
            "label": table.labels[table.codes[n]], "prob": float(table.probs[n]),
            "votes": int(table.votes[n]), "done": bool(table.done[n]),
            "gold": bool(table.gold[n]), "expected": float(table.expected[n])}  # fmt: skip


async def show_item(
    id: str, item: int, requester: Reading, store: StoreOf, labelling: LabellingOf
) -> Response:
    """One item with its votes."""
    with store.reading() as c:
        project, row = projects.find(c, id), items.find(c, id, item)
        answers = votes.answers_about(c, item)
        known = {worker.id: worker for worker in workers.list_all(c, id)}
    decided = await labelling.read(id, lambda replica, _: _decision(replica, row.name))
    questions = [criterion["name"] for criterion in project.spec["criteria"]] or [""]
    rows = [
        {"worker": vote.worker, "kind": known[vote.worker].kind, "time": vote.time, "seconds": vote.seconds,
         "label": "can’t tell" if vote.label is None else project.spec["classes"][vote.label],
         "question": questions[vote.criterion]}
        for vote in answers
    ]  # fmt: skip
    return show("item.html", requester, project, item=row, votes=rows, several=len(questions) > 1, **decided)


def _decision(replica: Replica, name: str) -> dict[str, Any]:
    """The decision about one item, and its posterior for each question."""
    campaign = replica.campaign
    if name not in replica.item_ids:
        raise NotFoundError("there is no such item in this project")
    row = int(campaign.view.item_rows([name])[0])
    table = read_items(replica)
    at = np.flatnonzero(table.names == name)
    decision = None if not len(at) else _row(table, int(at[0]), {int(table.ids[at[0]]): {}})
    charts = []
    for criterion in campaign.criteria:
        probs = campaign.view.estimates(criterion).posterior[row].tolist()
        bars = [Bar(str(n), p, percent(p)) for n, p in zip(campaign.classes, probs, strict=True)]
        charts.append((criterion, svg_charts.bars(criterion or "Probabilities", bars)))
    return {"decision": decision, "tables": charts, "withdrawn": bool(campaign.view.items().withdrawn[row])}
