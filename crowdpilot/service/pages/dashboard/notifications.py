"""Page about notifications of a project: who is told what, what was sent, and a test e-mail."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.jobs.notifications import requests
from crowdpilot.service.pages.dashboard.access.requester import Labelling, Reading, Requester, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects
from crowdpilot.service.store.engine import Store

EVENT_NAMES = {
    "done": "The project is finished", "stuck": "No answers are coming in",
    "budget": "The budget is spent, or 90 % of it", "worker": "A worker needs a look",
    "project.done": "The project is finished", "project.stuck": "No answers are coming in",
    "project.budget": "The budget is spent, or 90 % of it", "worker.flagged": "A worker needs a look",
    "item.decided": "Items are decided",
}  # fmt: skip
STATE_NAMES = {"queued": "on its way", "done": "delivered", "failed": "given up"}


def pages() -> APIRouter:
    """Routes about notifications."""
    home = "/projects/{id}/notifications"
    return router([("GET", home, show_notifications), ("POST", f"{home}/test", send_test)])


def show_notifications(id: str, requester: Reading, store: StoreOf, settings: SettingsOf) -> Response:
    """Who is told what, and what became of it."""
    return _page(id, requester, store, settings)


def send_test(id: str, requester: Labelling, store: StoreOf, settings: SettingsOf) -> Response:
    """Send a test e-mail to every address of the project."""
    try:
        requests.send_test(store, settings, id, requester.id)
    except RequestError as error:
        return _page(id, requester, store, settings, sentence(str(error)), error.status)
    return go(f"/projects/{id}/notifications")


def _page(
    id: str, requester: Requester, store: Store, settings: Settings, wrong: str = "", status: int = 200
) -> Response:
    with store.reading() as c:
        project = projects.find(c, id)
    shown = requests.read_notifications(store, id)
    return show(
        "notifications.html", requester, project, status=status, wrong=wrong, states=STATE_NAMES,
        names=EVENT_NAMES, sender=settings.mail_server and settings.mail_server.sender, **shown,
    )  # fmt: skip
