"""The dashboard: the routes of all its pages, the list of projects, and changes of their state."""

from __future__ import annotations

import time
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy import Connection

from crowdpilot.service import access
from crowdpilot.service.errors import NotFoundError
from crowdpilot.service.http.auth import StoreOf
from crowdpilot.service.pages.dashboard import (
    audit,
    deletion,
    exports,
    imports,
    notifications,
    svg_charts,
)
from crowdpilot.service.pages.dashboard.access import keys, log, members, openid_connect
from crowdpilot.service.pages.dashboard.access.requester import (
    DashboardRoute,
    Labelling,
    Reading,
    Requester,
    go,
    may,
)
from crowdpilot.service.pages.dashboard.access.sign_in import sign_in_pages
from crowdpilot.service.pages.dashboard.formatting import show
from crowdpilot.service.pages.dashboard.items import check_queue, item_list, item_page, review_queue
from crowdpilot.service.pages.dashboard.overview import page as overview
from crowdpilot.service.pages.dashboard.project_settings import page as settings_page
from crowdpilot.service.pages.dashboard.recruiting import (
    hit_pages,
    label_studio_pages,
    links,
    prolific_pages,
)
from crowdpilot.service.pages.dashboard.recruiting import page as recruiting_page
from crowdpilot.service.pages.dashboard.setup import more_items, wizard, worker_preview
from crowdpilot.service.pages.dashboard.workers import blocking, worker_list, worker_page
from crowdpilot.service.project_campaign import make_prices
from crowdpilot.service.requester_actions import change_state as change_project_state
from crowdpilot.service.store import projects, statistics
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.prices import cost_of_votes
from crowdpilot.service.store.votes import VOTED

STATES = {"pause": projects.PAUSED, "resume": projects.OPEN, "close": projects.CLOSED}
MAX_PROJECTS_SHOWN = 200
MANY_VOTES = 10_000  # from which on their cost is counted at most once in COUNT_SECONDS
COUNT_SECONDS = 60.0


def dashboard_pages() -> APIRouter:
    """The routes of the dashboard, with those for signing in."""
    routes = APIRouter(include_in_schema=False, route_class=DashboardRoute)
    routes.add_api_route("/projects", list_projects, methods=["GET"], response_model=None)
    routes.add_api_route("/projects/cards", list_cards, methods=["GET"], response_model=None)
    routes.include_router(sign_in_pages())
    for each in (openid_connect, label_studio_pages, wizard, more_items, worker_preview, keys, members, log):
        routes.include_router(each.pages())
    routes.include_router(settings_page.pages())
    routes.add_api_route("/projects/{id}/close", confirm_close, methods=["GET"], response_model=None)
    routes.add_api_route("/projects/{id}/state/{change}", change_state, methods=["POST"], response_model=None)
    for each in (
        overview,
        deletion,
        recruiting_page,
        hit_pages,
        prolific_pages,
        links,
        audit,
        exports,
        imports,
        notifications,
    ):
        routes.include_router(each.pages())
    for each in (item_list, item_page, review_queue, check_queue, worker_list, worker_page, blocking):
        routes.include_router(each.pages())
    return routes


def list_projects(requester: Reading, store: StoreOf) -> Response:
    """All projects as cards, or how to begin."""
    return show("projects.html", requester, cards=_cards(store, requester))


def list_cards(requester: Reading, store: StoreOf) -> Response:
    """The cards alone, as they are now."""
    return show("cards.html", requester, cards=_cards(store, requester))


def _cards(store: Store, requester: Requester) -> list[dict[str, Any]]:
    """Cards from the tables alone: a campaign is rebuilt only for the page of its project."""
    with store.reading() as c:
        rows, sizes, progress = (
            access.list_projects(c, requester.access)[:MAX_PROJECTS_SHOWN],
            statistics.item_counts(c),
            statistics.last_progress(c),
        )
        spent = {row.id: _spent(store, c, row) for row in rows}
    return [_card(row, sizes.get(row.id, 0), progress.get(row.id), spent[row.id]) for row in rows]


def _card(
    project: Row, items: int, progress: statistics.RefitProgress | None, spent: float
) -> dict[str, Any]:
    return {
        "id": project.id, "name": project.name, "state": project.state, "done": project.done,
        "question": project.spec["question"], "created": project.created, "votes": project.votes,
        "items": items, **_card_progress(project, items, progress), "spent": spent,
        "budget": project.spec["costs"]["budget"], "currency": project.spec["currency"],
    }  # fmt: skip


def _card_progress(project: Row, items: int, progress: statistics.RefitProgress | None) -> dict[str, Any]:
    """Final and settled items at the last refit; all are final in a project that is done or stopped."""
    if project.done or project.state == projects.CLOSED:
        final, settled = items, 0
    else:
        final = 0 if progress is None else min(progress.final, items)
        settled = 0 if progress is None else min(progress.settled, items - final)
    shares = [n / max(items, 1) for n in (final, settled)]
    words = f"{final:,} decided for good, {settled:,} for now, of {items:,} items"
    return {"final": final, "settled": settled, "open": items - final - settled,
            "bar": svg_charts.stacked(f"Progress of {project.name}", shares, words)}  # fmt: skip


class CountedCost(NamedTuple):
    """The cost of the votes of a project, and when they were counted."""

    change_number: int  # of the project
    time: float
    cost: float

    def holds(self, project: Row, now: float) -> bool:
        """Whether it is the cost of now, or that of a moment ago where many votes would be counted."""
        is_recent = now < self.time + COUNT_SECONDS and project.votes >= MANY_VOTES
        return self.change_number == project.change_number or is_recent


_COUNTED: WeakKeyDictionary[Store, dict[str, CountedCost]] = WeakKeyDictionary()  # by project


def _spent(store: Store, c: Connection, project: Row) -> float:
    """The cost of the votes of a project; they are counted by kind only where prices differ, and seldom."""
    prices = make_prices(project)
    if len(set(prices.now.values())) == 1 and not prices.earlier:
        return float(project.votes * next(iter(prices.now.values())))
    counted, now = _COUNTED.setdefault(store, {}), time.time()
    known = counted.get(project.id)
    if known is None or not known.holds(project, now):
        cost = cost_of_votes(c, project.id, prices, [VOTED])
        known = counted[project.id] = CountedCost(project.change_number, now, cost)
    return known.cost


def confirm_close(id: str, requester: Reading, store: StoreOf) -> Response:
    """Ask again before a project is closed."""
    with store.reading() as c:
        project = projects.find(c, id)
    words = ["Workers get no more items, and no more answers are taken. Labels so far stay, and you can "
             "export them at any time.", "You can open the project again later."]  # fmt: skip
    return show(
        "confirm.html", requester, project, title=f"Stop “{project.name}”?", words=words,
        yes="Stop the project", action=f"/projects/{id}/state/close", back=f"/projects/{id}",
    )  # fmt: skip


def change_state(id: str, change: str, requester: Labelling, store: StoreOf) -> Response:
    """Pause, resume or close a project."""
    if change not in STATES:
        raise NotFoundError("there is no such change; a project is paused, resumed or closed")
    if STATES[change] == projects.CLOSED:
        may(access.WRITE, requester)
    change_project_state(store, id, requester.id, STATES[change])
    return go(f"/projects/{id}")
