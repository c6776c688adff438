"""Connections to addresses that were checked: one POST, with one deadline for all of it."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence

from crowdpilot.service.outgoing.addresses import Address, OutgoingUrl

MAX_HEAD_BYTES = 1 << 14  # of the status line and headers of a response; its body is not read
READ_BYTES = 1 << 12
STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5]\d\d)[ \r]")
END_OF_HEAD = b"\r\n\r\n"


class Deadline:
    """A moment by which everything has to be done.

    Parameters
    ----------
    seconds
        From now.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left; a `TimeoutError` if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


def post(
    url: OutgoingUrl,
    addresses: Sequence[Address],
    headers: Mapping[str, str],
    body: bytes,
    deadline: Deadline,
) -> int:
    """The status of the response to a POST; redirects are not followed, and no proxy is used.

    Parameters
    ----------
    url
        Named in the header Host; over https the certificate has to be valid for its host.
    addresses
        To connect to, one after the other until one answers.
    headers, body
        To be sent.
    deadline
        For connecting, TLS, sending, and the head of the response together.
    """
    lines = {"Host": url.host_header, "Content-Length": str(len(body)), "Connection": "close", **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    request = f"POST {url.target} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body
    with connect(url, addresses, deadline) as connection:
        _send(connection, request, deadline)
        return _read_status(connection, deadline)


def connect(url: OutgoingUrl, addresses: Sequence[Address], deadline: Deadline) -> socket.socket:
    """A connection to the first address that answers."""
    for untried, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        try:
            connection = socket.create_connection((str(address), url.port), deadline.left() / untried)
            break
        except OSError:
            if untried == 1:
                raise
    if url.scheme == "http":
        return connection
    try:
        connection.settimeout(deadline.left())
        return ssl.create_default_context().wrap_socket(connection, server_hostname=url.host)
    except BaseException:
        connection.close()
        raise


def _send(connection: socket.socket, data: bytes, deadline: Deadline) -> None:
    """Send everything; `sendall` of TLS would begin to wait anew for each piece."""
    view = memoryview(data)
    while view:
        connection.settimeout(deadline.left())
        view = view[connection.send(view) :]


def _read_status(connection: socket.socket, deadline: Deadline) -> int:
    """The status of the first response that is final; a `ValueError` if it is no response of HTTP."""
    received, read = b"", 0
    while True:
        while END_OF_HEAD not in received:
            connection.settimeout(deadline.left())
            piece = connection.recv(READ_BYTES)
            read += len(piece)
            if not piece or read > MAX_HEAD_BYTES:
                raise ValueError("the response has no end" if piece else "the response breaks off")
            received += piece
        head, _, received = received.partition(END_OF_HEAD)
        status = STATUS_LINE.match(head + b"\r")
        if status is None:
            raise ValueError("the response is not one of HTTP")
        if int(status[1]) >= 200:  # others, such as 100 Continue, come before the response
            return int(status[1])
