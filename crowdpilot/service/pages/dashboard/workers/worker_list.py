"""Workers page of a project: skill, speed, flags and pay, sorted, filtered and searched; the pay list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import requester_actions
from crowdpilot.service.exports import write
from crowdpilot.service.http.auth import LabellingOf, StoreOf
from crowdpilot.service.http.responses import attachment
from crowdpilot.service.labelling.workers import pay, worker_quality
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.access.requester import Labelling, Reading, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.requesters.log import log_export
from crowdpilot.service.store import projects
from crowdpilot.service.store.arrivals import worker_history
from crowdpilot.service.store.engine import Row, Store

STATE_NAMES = {"new": "not started", "active": "active", "blocked": "blocked", "erased": "data erased"}
WORKERS_PER_PAGE = 100
MAX_QUERY_CHARACTERS = 200
Found = dict[str, Any]


def _number(name: str, missing: float) -> Callable[[Found], float]:
    return lambda row: missing if row[name] is None else float(row[name])


class Order(NamedTuple):
    """A way to sort workers, the largest first unless it says otherwise."""

    words: str
    key: Callable[[Found], Any]
    reverse: bool = True


ORDERS = {
    "": Order("Most answers first", lambda row: row["votes"]),
    "skill": Order("Highest skill first", _number("skill", -inf)),
    "low": Order("Lowest skill first", _number("skill", inf), False),
    "fast": Order("Fastest first", _number("seconds", inf), False),
    "pay": Order("Highest pay first", lambda row: row["pay"]),
    "seen": Order("Last seen first", _number("seen", -inf)),
    "flags": Order("Most warnings first", lambda row: len(row["flags"])),
}  # fmt: skip
STATES = {"": "All", "active": "Active", "new": "Not started", "blocked": "Blocked", "erased": "Data erased",
          "flagged": "With warnings", "waiting": "Answers do not count"}  # fmt: skip


class Query(NamedTuple):
    """Which workers are wanted, and in which order."""

    q: str = ""
    kind: str = ""
    platform: str = ""
    state: str = ""
    order: str = ""


def pages() -> APIRouter:
    """Routes about the list of workers."""
    home = "/projects/{id}/workers"
    return router([
        ("GET", home, show_workers), ("GET", f"{home}/pay.csv", download_pay),
        ("POST", f"{home}/approve", approve_all),
    ])  # fmt: skip


async def show_workers(
    id: str, requester: Reading, store: StoreOf, labelling: LabellingOf,
    q: str = "", kind: str = "", platform: str = "", state: str = "", order: str = "", page: int = 1,
) -> Response:  # fmt: skip
    """A page of a table of workers with their quality and their pay."""
    query = Query(q.strip()[:MAX_QUERY_CHARACTERS], kind, platform, state, order if order in ORDERS else "")
    seen = await labelling.read(id, worker_quality.read_votes)
    project, rows = await asyncio.to_thread(read_workers, store, id, seen)
    owed = {yes: sum(row["pay"] for row in rows if row["approved"] is yes) for yes in (True, False)}
    found = sort_workers(rows, query)
    last = max(1, -(-len(found) // WORKERS_PER_PAGE))
    page = min(max(page, 1), last)
    shown = {
        "rows": found[(page - 1) * WORKERS_PER_PAGE : page * WORKERS_PER_PAGE], "every": rows,
        "total": len(found), "page": page, "last": last, "approved": owed[True], "waiting": owed[False],
        "kinds": sorted({row["kind"] for row in rows}),
        "platforms": sorted({row["platform"] for row in rows}),
        "states": STATES, "orders": {name: order.words for name, order in ORDERS.items()},
    }  # fmt: skip
    return show("workers/list.html", requester, project, **shown, query=query._asdict(), span=svg_charts.span)


def read_workers(
    store: Store, id: str, seen: worker_quality.VotesAndPosterior
) -> tuple[Row, list[dict[str, Any]]]:
    """All workers with their pay and when they were last seen, in the order in which they came."""
    quality = worker_quality.list_workers(store, id, worker_quality.worker_skills(seen))
    with store.reading() as c:
        project, amounts = projects.find(c, id), {row.worker: row.amount for row in pay.list_pay(c, id)}
        last_seen = worker_history.last_seen(c, id)
    rows = [
        {**row, "pay": amounts.get(row["worker"], 0.0), "words": STATE_NAMES[row["state"]],
         "seen": last_seen.get(row["worker"])}
        for row in quality
    ]  # fmt: skip
    return project, rows


def sort_workers(rows: list[Found], query: Query) -> list[Found]:
    """The workers that a query wants, in its order; a search is for numbers and platform ids."""
    words = query.q.casefold()
    found = [
        row for row in rows
        if (not words or words == str(row["worker"]) or words in (row["external"] or "").casefold())
        and query.kind in ("", row["kind"]) and query.platform in ("", row["platform"])
        and _is_in_state(row, query.state)
    ]  # fmt: skip
    order = ORDERS[query.order]
    return sorted(found, key=order.key, reverse=order.reverse)


def _is_in_state(row: Found, state: str) -> bool:
    if state == "flagged":
        return bool(row["flags"])
    if state == "waiting":
        return not row["counted"]
    return state not in STATES or state in ("", row["state"])


def download_pay(id: str, requester: Reading, store: StoreOf) -> Response:
    """The pay of each worker, as a table for a spreadsheet."""
    with store.reading() as c:
        rows = pay.list_pay(c, id)
    log_export(store, requester.id, id, "pay")
    return attachment(write([pay.to_table(rows)], "csv"), f"pay-{id}.csv", "text/csv")


def approve_all(id: str, requester: Labelling, store: StoreOf) -> Response:
    """Approve everybody who has answered and is not blocked."""
    requester_actions.approve_all(store, id, requester.id)
    return go(f"/projects/{id}/workers")
