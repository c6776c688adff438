"""Routes for requesters about webhooks: the secret that signs them, and the state of each delivery."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from crowdpilot.service.http.auth import ProjectId, Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.responses import error_schemas
from crowdpilot.service.signing import derive
from crowdpilot.service.store import projects
from crowdpilot.service.store.messages import webhook_deliveries

ERRORS = error_schemas(401, 403, 404, 422, 429, 503)
routes = APIRouter(prefix="/api/projects/{id}", tags=["webhooks"], responses=ERRORS)


class WebhookOut(BaseModel):
    """The address that events of a project are sent to, and the secret by which a signature is checked.

    The header `Crowdpilot-Signature` is `t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of
    `SECONDS.BODY` under the secret.
    """

    address: str
    secret: str
    header: str = "Crowdpilot-Signature"
    events: list[str] = [
        "item.decided", "project.done", "project.stuck", "project.budget", "worker.flagged",
    ]  # fmt: skip


class DeliveryOut(BaseModel):
    """An event that was or is to be sent."""

    id: int
    event: str
    state: str
    tries: int
    due: float
    error: str | None
    created: float
    payload: dict[str, Any]


class DeliveriesOut(BaseModel):
    """The last deliveries of a project, the newest first."""

    deliveries: list[DeliveryOut]


@routes.get("/webhook")
def get_webhook(id: ProjectId, store: StoreOf, settings: SettingsOf, requester: Writer) -> WebhookOut:
    """The address that events are sent to, and the secret by which the receiver checks their signature."""
    with store.reading() as c:
        address = projects.find(c, id).spec["webhook"]
    return WebhookOut(address=address, secret=derive(settings.secret, "webhook", id))


@routes.get("/deliveries")
def get_deliveries(
    id: ProjectId,
    store: StoreOf,
    requester: Reader,
    n: Annotated[int, Query(ge=1, le=webhook_deliveries.MAX_ENDED_PER_PROJECT)] = 100,
) -> DeliveriesOut:
    """Events that were delivered, are queued or have failed."""
    with store.reading() as c:
        projects.find(c, id)
        rows = webhook_deliveries.latest(c, id, n)
    return DeliveriesOut(deliveries=[DeliveryOut.model_validate(row._mapping) for row in rows])
