"""The dashboard: the routes of all its pages, the list of projects, and changes of their state."""

from __future__ import annotations

from typing import Any

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
    items,
    new_project,
    project_live,
    worker_links,
    workers,
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
from crowdpilot.service.project_campaign import make_costs
from crowdpilot.service.requester_actions import change_state as change_project_state
from crowdpilot.service.store import projects, statistics
from crowdpilot.service.store.engine import Row, Store

STATES = {"pause": projects.PAUSED, "resume": projects.OPEN, "close": projects.CLOSED}
MAX_PROJECTS_SHOWN = 200


def dashboard_pages() -> APIRouter:
    """The routes of the dashboard, with those for signing in."""
    routes = APIRouter(include_in_schema=False, route_class=DashboardRoute)
    routes.add_api_route("/projects", list_projects, methods=["GET"], response_model=None)
    routes.add_api_route("/projects/cards", list_cards, methods=["GET"], response_model=None)
    routes.include_router(sign_in_pages())
    for each in (openid_connect, new_project, keys, members, log):
        routes.include_router(each.pages())
    routes.add_api_route("/projects/{id}/close", confirm_close, methods=["GET"], response_model=None)
    routes.add_api_route("/projects/{id}/state/{change}", change_state, methods=["POST"], response_model=None)
    for each in (project_live, deletion, workers, worker_links, items, audit, exports):
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
        rows, sizes, left = (
            access.list_projects(c, requester.access)[:MAX_PROJECTS_SHOWN],
            statistics.item_counts(c),
            statistics.open_item_counts(c),
        )
        return [_card(c, row, sizes.get(row.id, 0), left.get(row.id)) for row in rows]


def _card(c: Connection, project: Row, items: int, left: int | None) -> dict[str, Any]:
    decided = 0 if left is None else max(items - left, 0)
    return {
        "id": project.id, "name": project.name, "state": project.state, "done": project.done,
        "question": project.spec["question"], "created": project.created, "votes": project.votes,
        "items": items, "decided": decided, "spent": _spent(c, project),
        "budget": project.spec["costs"]["budget"],
    }  # fmt: skip


def _spent(c: Connection, project: Row) -> float:
    """The cost of the votes of a project; they are counted by kind only where prices differ."""
    prices = make_costs(project.spec).prices
    if len(set(prices.values())) == 1:
        return float(project.votes * next(iter(prices.values())))
    return float(
        sum(n * prices.get(kind, 0.0) for kind, n in statistics.votes_by_kind(c, project.id).items())
    )


def confirm_close(id: str, requester: Reading, store: StoreOf) -> Response:
    """Ask again before a project is closed."""
    with store.reading() as c:
        project = projects.find(c, id)
    words = ["Workers get no more items, and no more votes are taken. Decisions so far stay, and you can "
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
