"""Download of one file over HTTP from an address that was checked, without redirects, up to a size."""

from __future__ import annotations

import http.client
import io
import socket
from collections.abc import Sequence
from typing import Any

from crowdpilot import __version__
from crowdpilot.service.outgoing.addresses import Resolver, checked_addresses, parse_url, resolve
from crowdpilot.service.outgoing.connection import Deadline, connect
from crowdpilot.service.settings import Network

DEADLINE_SECONDS = 300.0
CHUNK_BYTES = 1 << 18


def download(
    address: str, most_bytes: int, networks: Sequence[Network], resolver: Resolver = resolve
) -> bytes:
    """The file at an address; a `ValueError` says in one sentence what is wrong.

    A `TimeoutError` if it takes too long.

    Parameters
    ----------
    address
        Its host is resolved once, and every network address has to be public or in one of the networks.
    most_bytes
        That it may have.
    networks
        Those that the operator allows besides the public ones.
    resolver
        Of names.
    """
    url, deadline = parse_url(address), Deadline(DEADLINE_SECONDS)
    addresses = checked_addresses(url, networks, deadline.left(), resolver)
    head = (
        f"GET {url.target} HTTP/1.1\r\nHost: {url.host_header}\r\nUser-Agent: Crowdpilot/{__version__}\r\n"
        "Accept: */*\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n"
    )
    with connect(url, addresses, deadline) as connection:
        connection.settimeout(deadline.left())
        connection.sendall(head.encode("ascii"))
        received = _Received(connection, deadline)
        response = http.client.HTTPResponse(received)  # type: ignore[arg-type]  # it calls makefile only
        try:
            response.begin()
            if response.status != 200:
                raise ValueError(
                    f"the address answered with status {response.status}; redirects are not followed"
                )
            data = bytearray()
            while piece := response.read(CHUNK_BYTES):
                data += piece
                if len(data) > most_bytes:
                    raise ValueError(f"the file is larger than {most_bytes >> 20} MiB; import it in parts")
            return bytes(data)
        except http.client.HTTPException as error:
            raise ValueError("the address gave no answer that can be read") from error
        finally:
            response.close()


class _Received(io.RawIOBase):
    """What a connection receives, all of it before a deadline: no piece is waited for any longer."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection, self._deadline = connection, deadline

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(self._deadline.left())
        return self._connection.recv_into(buffer)
