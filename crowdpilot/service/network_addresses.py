"""Network addresses: of clients behind proxies that are named, and networks that count as one caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from crowdpilot.service.settings import Network

Address = IPv4Address | IPv6Address
IPV6_PREFIX_BITS = 64  # what one customer of a provider has at least
MAX_ADDRESSES_CACHED = 10_000
MAX_ADDRESS_CHARACTERS = 45  # of an IPv6 address


@lru_cache(MAX_ADDRESSES_CACHED)
def network_of(address: str) -> str:
    """The address that counts as one caller: for IPv6 a whole network, where everybody has many addresses.

    Examples
    --------
    >>> network_of("192.0.2.7"), network_of("2001:db8::7"), network_of("::ffff:192.0.2.7")
    ('192.0.2.7', '2001:db8::', '192.0.2.7')
    """
    found = _parse(address)
    if not isinstance(found, IPv6Address):
        return address if found is None else str(found)
    return str(ip_network((found, IPV6_PREFIX_BITS), strict=False).network_address)


@lru_cache(MAX_ADDRESSES_CACHED)
def is_loopback(address: str) -> bool:
    """Whether an address is of this machine."""
    found = _parse(address)
    return found is not None and found.is_loopback


class Proxies:
    """Proxies that are trusted to say whose request they pass on.

    Parameters
    ----------
    networks
        Addresses and networks of the proxies.

    Examples
    --------
    >>> proxies = Proxies([ip_network("10.0.0.0/8")])
    >>> proxies.client_of("10.0.0.1", ["192.0.2.1, 192.0.2.7", "10.0.0.2"])
    '192.0.2.7'
    >>> proxies.client_of("192.0.2.9", ["192.0.2.1"])
    '192.0.2.9'
    """

    def __init__(self, networks: Iterable[Network]) -> None:
        self._networks = list(networks)
        self._known: dict[str, bool] = {}

    def __contains__(self, address: str) -> bool:
        """Whether an address is that of a proxy."""
        if address not in self._known:
            if len(self._known) >= MAX_ADDRESSES_CACHED:
                self._known.clear()
            found = _parse(address)
            self._known[address] = found is not None and any(found in network for network in self._networks)
        return self._known[address]

    def client_of(self, peer: str, forwarded: Sequence[str]) -> str:
        """The address of a client: the last one before the proxies, each of which adds whom it serves.

        Whatever stands before that, the client may have written.

        Parameters
        ----------
        peer
            The address of the connection.
        forwarded
            The headers X-Forwarded-For, in their order.
        """
        client = peer
        for text in reversed([part.strip() for header in forwarded for part in header.split(",")]):
            if client not in self:
                break
            address = _parse(text)
            if address is None:
                break
            client = str(address)
        return client


def _parse(text: str) -> Address | None:
    """An address, also where a port or brackets stand around it; None if it is none."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    if len(text) > MAX_ADDRESS_CHARACTERS:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
