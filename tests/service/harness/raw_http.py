"""HTTP over a bare socket: half and slow requests, and others that no client library would send."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 20.0


class RawResponse(NamedTuple):
    """What came back until the connection ended or the response was complete; status 0 if nothing did."""

    status: int
    headers: dict[str, str]
    body: bytes


def connect(address: str) -> socket.socket:
    """A connection to a service."""
    where = urlsplit(address)
    return socket.create_connection((where.hostname, where.port), TIMEOUT_SECONDS)


def head(method: str, path: str, **headers: object) -> bytes:
    """The start of a request; underscores in the names of headers stand for hyphens."""
    lines = [f"{method} {path} HTTP/1.1", "host: testserver"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


def read_response(sock: socket.socket) -> RawResponse:
    """The next response on a connection."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while b"\r\n\r\n" not in data and (more := sock.recv(65536)):
            data += more
    start, _, body = data.partition(b"\r\n\r\n")
    if not start:
        return RawResponse(0, {}, b"")
    first, *rest = start.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in rest)}
    with contextlib.suppress(ConnectionError):
        while len(body) < int(headers.get("content-length", 0)) and (more := sock.recv(65536)):
            body += more
    return RawResponse(int(first.split()[1]), headers, body)


def send_all(sock: socket.socket, parts: Iterable[bytes]) -> int:
    """Send parts until the other side has had enough; the bytes sent."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        for part in parts:
            sock.sendall(part)
            sent += len(part)
    return sent


def is_closed(sock: socket.socket) -> bool:
    """Whether the other side has closed the connection, whatever it said before."""
    sock.settimeout(0.01)
    try:
        while sock.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True
