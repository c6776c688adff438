"""Pages that delete items and projects, erase the personal data of workers, and hand it out before."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from crowdpilot.service import access, requester_actions
from crowdpilot.service.errors import ConflictError
from crowdpilot.service.http.auth import SettingsOf, StoreOf, WorkerId
from crowdpilot.service.http.routes.workers import worker_data
from crowdpilot.service.pages.dashboard.access.requester import (
    Form,
    PostingAsAdmin,
    Reading,
    ReadingAsAdmin,
    Requester,
    Writing,
    go,
    may,
)
from crowdpilot.service.pages.dashboard.formatting import router, show
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.store import items, projects, workers
from crowdpilot.service.store.engine import Store


def pages() -> APIRouter:
    """Routes about deletion."""
    worker, item, project = "/projects/{id}/workers/{worker}", "/projects/{id}/items/{item}", "/projects/{id}"
    return router([
        ("GET", f"{worker}/data", download_worker), ("GET", f"{worker}/erase", confirm_erase),
        ("POST", f"{worker}/erase", erase), ("GET", f"{item}/delete", confirm_delete_item),
        ("POST", f"{item}/delete", delete_item), ("GET", f"{project}/delete", confirm_delete_project),
        ("POST", f"{project}/delete", delete_project),
    ])  # fmt: skip


def download_worker(
    id: str, worker: WorkerId, requester: Reading, store: StoreOf, settings: SettingsOf
) -> Response:
    """All that is stored about a worker, as a file."""
    may(access.WRITE, requester)
    return worker_data(store, settings.secret, id, requester.id, worker)


def confirm_erase(id: str, worker: WorkerId, requester: Reading, store: StoreOf) -> Response:
    """Ask again before the data of a worker are erased."""
    with store.reading() as c:
        project, row = projects.find(c, id), workers.find(c, id, worker)
    words = [
        "Their name on the platform, their assignments and their consent are deleted. They cannot come back.",
        "Their answers stay, under a number that leads nowhere. This cannot be undone.",
    ]
    return show(
        "confirm.html", requester, project, title=f"Erase the personal data of worker {row.id}?", words=words,
        yes="Erase the data", action=f"/projects/{id}/workers/{worker}/erase", back=f"/projects/{id}/workers",
    )  # fmt: skip


def erase(id: str, worker: WorkerId, requester: Writing, store: StoreOf, settings: SettingsOf) -> Response:
    """Erase the personal data of a worker."""
    requester_actions.erase(store, settings.secret, id, requester.id, worker)
    return go(f"/projects/{id}/workers#worker-{worker}")


def confirm_delete_item(id: str, item: int, requester: Reading, store: StoreOf) -> Response:
    """Ask again before an item is deleted."""
    with store.reading() as c:
        project, row = projects.find(c, id), items.find(c, id, item)
    words = [
        "All answers to it are deleted with it, and its image if no other item has it. "
        "Workers have been paid for these answers, and are still owed what is not paid yet.",
        "This cannot be undone. To keep the answers, withdraw the item instead.",
    ]
    return show(
        "confirm.html", requester, project, title=f"Delete the item “{row.name}”?", words=words,
        yes="Delete the item", action=f"/projects/{id}/items/{item}/delete",
        back=f"/projects/{id}/items/{item}",
    )  # fmt: skip


def delete_item(id: str, item: int, requester: Writing, store: StoreOf) -> Response:
    """Delete an item."""
    with store.reading() as c:
        name = items.find(c, id, item).name
    requester_actions.delete_items(store, id, requester.id, [name])
    return go(f"/projects/{id}/items")


def confirm_delete_project(id: str, requester: ReadingAsAdmin, store: StoreOf) -> Response:
    """Ask for the name of a project before it is deleted."""
    return _deletion_page(store, id, requester, "", "")


def _deletion_page(store: Store, id: str, requester: Requester, typed: str, wrong: str) -> Response:
    with store.reading() as c:
        project = projects.find(c, id)
    errors = {"name": wrong} if wrong else {}
    return show(
        "delete.html", requester, project, status=422 if wrong else 200, typed={"name": typed}, wrong=errors
    )


def delete_project(id: str, form: Form, requester: PostingAsAdmin, store: StoreOf) -> Response:
    """Delete a project whose name was typed."""
    typed = str(form.get("name", "")).strip()
    try:
        requester_actions.delete_project(store, id, requester.id, typed)
    except ConflictError as error:
        return _deletion_page(store, id, requester, typed, sentence(str(error)))
    return go("/projects")
