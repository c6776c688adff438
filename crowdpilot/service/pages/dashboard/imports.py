"""Page that imports items from an address which the operator allows, and shows how far it is."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service.errors import RequestError
from crowdpilot.service.http.auth import SettingsOf, StoreOf
from crowdpilot.service.jobs.imports import requests
from crowdpilot.service.pages.dashboard.access.requester import Form, Reading, Requester, Writing, go
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs, projects
from crowdpilot.service.store.engine import Store


def pages() -> APIRouter:
    """Routes of imports."""
    home = "/projects/{id}/import"
    return router([("GET", home, show_import), ("POST", home, start_import)])


def show_import(id: str, requester: Reading, store: StoreOf, settings: SettingsOf) -> Response:
    """A field for the address, and how the last import stands."""
    return _page(id, requester, store, settings)


def start_import(id: str, form: Form, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Queue an import."""
    address = str(form.get("address", "")).strip()[: requests.MAX_ADDRESS_CHARACTERS]
    try:
        requests.start(store, settings, id, address, requester.id)
    except RequestError as error:
        return _page(id, requester, store, settings, address, sentence(str(error)), error.status)
    return go(f"/projects/{id}/import")


def _page(
    id: str, requester: Requester, store: Store, settings: Settings, address: str = "", wrong: str = "",
    status: int = 200,
) -> Response:  # fmt: skip
    with store.reading() as c:
        project, last = projects.find(c, id), requests.latest(c, id)
    return show(
        "import.html", requester, project, status=status, address=address, wrong=wrong, last=last,
        why=sentence(last.why) if last and last.why else "", allowed=settings.import_from,
        waiting=last is not None and last.state in (jobs.QUEUED, jobs.RUNNING),
    )  # fmt: skip
