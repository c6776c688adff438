"""Limits on new guests in an hour, of a project and of a network address, shared by all processes."""

from __future__ import annotations

from sqlalchemy import Connection

from crowdpilot.service.errors import RateLimitError, translatable
from crowdpilot.service.labelling.guests.trust import settings_of
from crowdpilot.service.network_addresses import network_of
from crowdpilot.service.signing import derive
from crowdpilot.service.store import counters
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log

PERIOD_SECONDS = 3600.0
TOO_MANY_HERE = translatable(
    "many people have just come to this project; try again in an hour, or ask for a link with your name"
)
TOO_MANY_FROM_ADDRESS = translatable(
    "many people have just come from your network; try again in an hour, or ask for a link with your name"
)


def check(c: Connection, secret: str, project: Row) -> None:
    """Count a new guest, in the write transaction that registers them; a `RateLimitError` if one too many.

    The error rolls the transaction back, so that only guests who came in are counted.
    """
    limits = settings_of(project.spec)
    if counters.add(c, f"guests:{project.id}", PERIOD_SECONDS) > limits["per_hour"]:
        raise RateLimitError(TOO_MANY_HERE)
    address = action_log.address.get()
    if address is None:
        return
    network = derive(secret, "guest address", network_of(address))  # personal data is not written down
    if counters.add(c, f"guests:{project.id}:{network}", PERIOD_SECONDS) > limits["per_address"]:
        raise RateLimitError(TOO_MANY_FROM_ADDRESS)
