"""Routes for requesters about notifications: what was sent, and a test of the mail server."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from crowdpilot.service.http.auth import LabelOps, ProjectId, Reader, SettingsOf, StoreOf
from crowdpilot.service.http.routes.projects import ERRORS
from crowdpilot.service.jobs.notifications import requests
from crowdpilot.service.store import projects

routes = APIRouter(prefix="/api/projects/{id}/notifications", tags=["notifications"], responses=ERRORS)


class NotificationOut(BaseModel):
    """An event that is so and was sent; `about` is the number of a worker, or a stage of the budget."""

    event: str
    about: str
    created: float


class EmailOut(BaseModel):
    """An e-mail that was or is to be sent."""

    id: int
    recipient: str
    subject: str
    state: str
    tries: int
    error: str | None
    created: float


class NotificationsOut(BaseModel):
    """Who is told what: whether e-mails are sent at all, what is so now, and the last e-mails."""

    sends_emails: bool
    emails: list[str]
    events: list[str]
    now: list[NotificationOut]
    sent: list[EmailOut]


class TestOut(BaseModel):
    """The addresses to which a test e-mail is on its way."""

    __test__ = False
    recipients: list[str]


@routes.get("")
def get_notifications(
    id: ProjectId, store: StoreOf, settings: SettingsOf, requester: Reader
) -> NotificationsOut:
    """Who is told what about a project, and the last e-mails with what became of them."""
    with store.reading() as c:
        notify = projects.find(c, id).spec["notify"]
    shown = requests.read_notifications(store, id)
    return NotificationsOut(
        sends_emails=settings.mail_server is not None, emails=notify["emails"], events=notify["events"],
        now=[NotificationOut.model_validate(row._mapping) for row in shown["told"]],
        sent=[EmailOut.model_validate(row._mapping) for row in shown["emails"]],
    )  # fmt: skip


@routes.post("/test")
def post_test(id: ProjectId, store: StoreOf, settings: SettingsOf, requester: LabelOps) -> TestOut:
    """Send a test e-mail to every address in the settings of the project."""
    return TestOut(recipients=requests.send_test(store, settings, id, requester.actor))
