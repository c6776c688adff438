"""Items page of a project: search, filters, and decisions with their probabilities."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.pages.dashboard.access.requester import Reading
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.dashboard.items.item_table import (
    FILTERS,
    ORDERS,
    ItemTable,
    Query,
    describe_row,
    find_rows,
    read_items,
)
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.answers import comments
from crowdpilot.service.store.engine import Row, Store

ITEMS_PER_PAGE = 25


def pages() -> APIRouter:
    """Routes about the list of items."""
    return router([("GET", "/projects/{id}/items", show_items)])


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
    query = Query.of(q, only, order)
    project, found = await asyncio.to_thread(_search, store, id, table, query, page)
    return show(
        "items/list.html", requester, project, filters=FILTERS, orders=ORDERS, **query._asdict(), **found
    )


def _search(store: Store, id: str, table: ItemTable, query: Query, page: int) -> tuple[Row, dict[str, Any]]:
    with store.reading() as c:
        project = projects.find(c, id)
        rows = find_rows(c, id, table, query)
        last = max(1, -(-len(rows) // ITEMS_PER_PAGE))
        page = min(max(page, 1), last)
        shown = rows[(page - 1) * ITEMS_PER_PAGE : page * ITEMS_PER_PAGE]
        content = items.contents(c, table.ids[shown].tolist())
        flags = comments.open_flags(c, id)
    found = [describe_row(table, n, content) for n in shown.tolist()]
    found = [{**row, "flags": flags.get(row["id"], 0)} for row in found]
    return project, {
        "rows": found,
        "total": len(rows),
        "page": page,
        "last": last,
        "flags": sum(flags.values()),
    }
