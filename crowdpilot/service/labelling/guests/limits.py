"""Limits on new guests in an hour, of a project and of a network address, shared by all processes."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

from sqlalchemy import Connection

from crowdpilot.service.errors import RateLimitError
from crowdpilot.service.labelling.guests.trust import settings_of
from crowdpilot.service.signing import derive
from crowdpilot.service.store import counters
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log

PERIOD_SECONDS = 3600.0
IPV6_PREFIX_BITS = 64  # what one customer of a provider has at least
TOO_MANY_HERE = (
    "many people have just come to this project; try again in an hour, or ask for a link with your name"
)
TOO_MANY_FROM_ADDRESS = (
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
    network = derive(secret, "guest address", _network(address))  # personal data is not written down
    if counters.add(c, f"guests:{project.id}:{network}", PERIOD_SECONDS) > limits["per_address"]:
        raise RateLimitError(TOO_MANY_FROM_ADDRESS)


def _network(address: str) -> str:
    """The address that counts as one caller: for IPv6 a whole network, where everybody has many addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((found, IPV6_PREFIX_BITS), strict=False).network_address)
