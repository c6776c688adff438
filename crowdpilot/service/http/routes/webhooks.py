"""Routes for requesters about webhooks: the secret that signs them, and what became of each."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from crowdpilot.service.http.auth import Reader, SettingsOf, StoreOf, Writer
from crowdpilot.service.http.error_responses import described
from crowdpilot.service.signing import derive
from crowdpilot.service.store import projects, webhook_deliveries

PROBLEMS = described(401, 403, 404, 422, 429, 503)
routes = APIRouter(prefix="/api/projects", tags=["webhooks"], responses=PROBLEMS)
Id = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]


class WebhookOut(BaseModel):
    """Where news of a project goes, and the secret by which its signature is checked.

    The header `Crowdpilot-Signature` is `t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA256 of
    `SECONDS.BODY` under the secret.
    """

    address: str
    secret: str
    header: str = "Crowdpilot-Signature"
    events: list[str] = ["item.decided", "project.done"]


class DeliveryOut(BaseModel):
    """Something that was or is to be told."""

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


@routes.get("/{id}/webhook")
def get_webhook(id: Id, store: StoreOf, settings: SettingsOf, key: Writer) -> WebhookOut:
    """Where news goes, and the secret by which its receiver knows that it comes from here."""
    with store.reading() as c:
        address = projects.find(c, id).spec["webhook"]
    return WebhookOut(address=address, secret=derive(settings.secret, "webhook", id))


@routes.get("/{id}/deliveries")
def get_deliveries(
    id: Id, store: StoreOf, key: Reader, n: Annotated[int, Query(ge=1, le=webhook_deliveries.KEPT)] = 100
) -> DeliveriesOut:
    """What was told, what waits to be told, and what nobody heard."""
    with store.reading() as c:
        projects.find(c, id)
        rows = webhook_deliveries.listed(c, id, n)
    return DeliveriesOut(deliveries=[DeliveryOut.model_validate(row._mapping) for row in rows])
