"""Addresses that requesters give: which URLs they may be, and which network addresses a request may reach.

A requester must not reach the network of the service through it. So a name is resolved, every address it
resolves to has to be public or in a network that the operator allows, and the delivery is sent to the
addresses that were checked: the name is not resolved a second time.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from crowdpilot.service.settings import Network

Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Sequence[Address]]  # of a host and a port; an `OSError` if there is none

GLOBAL_UNICAST = IPv6Network("2000::/3")  # all other addresses of IPv6 are local, multicast or reserved
SIX_TO_FOUR = IPv6Network("2002::/16")  # holds an address of IPv4 after its first 16 bits
NAT64 = IPv6Network("64:ff9b::/96")  # holds an address of IPv4 in its last 32 bits
NOT_PUBLIC: Sequence[Network] = (
    IPv4Network("100.64.0.0/10"),  # between a provider and its customers
    IPv4Network("192.0.0.0/24"),  # of protocols; metadata of machines in the cloud of Oracle
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv4Network("168.63.129.16/32"),  # metadata of machines in Azure; other clouds use link-local addresses
    IPv6Network("3fff::/20"),  # documentation
)
FIRST_USER_PORT = 1024  # below are the ports of other protocols, but for those of http and https
DEFAULT_PORTS = {"http": 80, "https": 443}
CREATION_RESOLVE_SECONDS = 2.0  # for the name of a new webhook
ALLOW = "or ask the operator to allow its network (serve --webhook-network)"


class OutgoingUrl(NamedTuple):
    """The parts of a URL."""

    scheme: str
    host: str  # as it is resolved, and as the certificate names it
    port: int
    target: str  # path and query, as they are sent

    @property
    def host_header(self) -> str:
        """The value of the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


def parse_url(address: str) -> OutgoingUrl:
    """The parts of a URL; a `ValueError` says in one sentence what is wrong with it.

    Examples
    --------
    >>> parse_url("https://example.org:8443/hook?team=3")
    OutgoingUrl(scheme='https', host='example.org', port=8443, target='/hook?team=3')
    """
    if re.search(r"[\x00-\x20\x7f\\]", address):
        raise ValueError("the address holds a space, a backslash or a control character; leave it out")
    try:
        parts = urlsplit(address)
        port, host = parts.port, (parts.hostname or "").rstrip(".")
    except ValueError:
        raise ValueError("the address is no URL; write it as in https://example.org/hook") from None
    if parts.scheme not in DEFAULT_PORTS:
        raise ValueError("the address begins with neither http:// nor https://; choose one of them")
    if "@" in parts.netloc:
        raise ValueError("the address holds a name or a password; leave it out, deliveries are signed")
    try:
        host = host if ":" in host else host.encode("idna").decode()
    except UnicodeError:
        host = ""
    if not re.fullmatch(r"[\w.:%-]+", host, re.ASCII):
        raise ValueError("the address names no host; write it as in https://example.org/hook")
    if port is None:
        port = DEFAULT_PORTS[parts.scheme]
    if port < FIRST_USER_PORT and port not in DEFAULT_PORTS.values():
        raise ValueError(f"port {port} is not one of the web; use 80, 443, or one from {FIRST_USER_PORT} on")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~?")
    return OutgoingUrl(parts.scheme, host, port, f"{path}?{query}" if query else path)


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether a delivery may be sent to an address: a public one, or one in these networks.

    Of an address of IPv6 that stands for one of IPv4 (mapped, 6to4, NAT64), the latter counts.

    Examples
    --------
    >>> is_allowed(ip_address("93.184.216.34"), []), is_allowed(ip_address("::ffff:10.0.0.1"), [])
    (True, False)
    >>> is_allowed(ip_address("10.0.0.1"), [IPv4Network("10.0.0.0/24")])
    True
    """
    if any(address in network for network in networks):
        return True
    if isinstance(address, IPv6Address) and (inner := _embedded(address)) is not None:
        return is_allowed(inner, networks)
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    special = address.is_multicast or address.is_reserved or any(address in network for network in NOT_PUBLIC)
    return address.is_global and not special


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """The address of IPv4 that an address of IPv6 stands for."""
    if address in SIX_TO_FOUR:
        return address.sixtofour
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped


def resolve(host: str, port: int) -> list[Address]:
    """All addresses of a host, in the order in which the system prefers them."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a label of the name is empty or too long
        raise OSError(str(error)) from error
    return list(dict.fromkeys(ip_address(where[0]) for *_, where in found))


def resolve_within(resolver: Resolver, host: str, port: int, seconds: float) -> Sequence[Address]:
    """Resolve in bounded time, which the system does not: a `TimeoutError` after so many seconds."""
    found: list[Sequence[Address]] = []
    errors: list[OSError] = []

    def ask() -> None:
        try:
            found.append(resolver(host, port))
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=ask, name="webhook resolver", daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if errors:
        raise errors[0]
    if not found:
        raise TimeoutError("the name is not resolved in time")
    return found[0]


def checked_addresses(
    url: OutgoingUrl, networks: Sequence[Network], seconds: float, resolver: Resolver = resolve
) -> Sequence[Address]:
    """The addresses to send to; a `ValueError` if one of them is refused, an `OSError` if there is none.

    Parameters
    ----------
    url
        Whose host is resolved, once.
    networks
        Those that the operator allows besides the public ones.
    seconds
        For how long to wait for the resolver.
    resolver
        Of names.
    """
    found = resolve_within(resolver, url.host, url.port, seconds)
    if not found:
        raise OSError("the name has no address")
    if not all(is_allowed(address, networks) for address in found):
        raise ValueError(f"the address is in a network that is not public; use a public one, {ALLOW}")
    return found


def check_new_webhook(address: str, networks: Sequence[Network], resolver: Resolver = resolve) -> None:
    """Check the address of a new project, if it has one; a `ValueError` says what is wrong.

    A name that does not resolve now is accepted: it may do so later, and every delivery checks again.
    """
    if address:
        with suppress(OSError):
            checked_addresses(parse_url(address), networks, CREATION_RESOLVE_SECONDS, resolver)
