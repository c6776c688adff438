"""Connections of a web process: how many there may be, and until when a request has to arrive.

Deadlines are attributes that one periodic check reads, so that a request costs no timer of its own.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from functools import partial
from typing import Any, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from crowdpilot.service.network_addresses import network_of

KEEP_ALIVE_SECONDS = 5  # without any byte, after which a connection is closed
DISCARD_SECONDS = 5.0  # for the rest of a body that nobody wants, so that the sender can read why
WRITE_SECONDS = 60.0  # in which a receiver has to take so many bytes of a response:
MIN_WRITTEN_BYTES = 64 << 10
CHECK_SECONDS = 0.5  # between two checks of deadlines
MIN_BYTES_PER_SECOND = 64 << 10  # of a body, once its first seconds are over
MAX_HEADER_BYTES = 64 << 10  # more are refused as soon as they have arrived
MAX_PIPELINED = 100  # requests on a connection that wait for the response to one before them
NEVER = math.inf
REASONS = {
    408: "the request did not arrive in time; send it again",
    431: f"the headers are larger than {MAX_HEADER_BYTES} bytes; send less",
    503: "there are too many connections; try again in a moment",
}


class Limits(NamedTuple):
    """Limits of the connections of one process.

    Parameters
    ----------
    header_seconds
        For all headers of a request.
    body_seconds
        For a body; a large one has to arrive with `MIN_BYTES_PER_SECOND` from then on.
    total
        Open at once; when there are more, one that waits for a request is closed.
    per_address
        Open at once from one network address; none behind a proxy, where all come from its address.
    """

    header_seconds: float = 10.0
    body_seconds: float = 20.0
    total: int = 2000
    per_address: int | None = 500


class Connections:
    """The open connections of one process.

    Parameters
    ----------
    limits
        Of these connections.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.open: set[LimitedProtocol] = set()
        self.by_address: Counter[str] = Counter()
        self._checking = False

    @property
    def protocol(self) -> Any:
        """The protocol for `uvicorn.Config(http=...)`."""
        return partial(LimitedProtocol, self)

    def add(self, connection: LimitedProtocol) -> bool:
        """Count a new connection; whether it may stay."""
        per_address = self.limits.per_address
        if per_address is not None and self.by_address[connection.network] >= per_address:
            return False
        if len(self.open) >= self.limits.total and not self._close_one_that_waits():
            return False
        self.open.add(connection)
        self.by_address[connection.network] += 1
        if not self._checking:
            self._checking = True
            connection.loop.call_later(CHECK_SECONDS, self._check, connection.loop)
        return True

    def remove(self, connection: LimitedProtocol) -> None:
        """Count a connection no more."""
        if connection not in self.open:
            return
        self.open.remove(connection)
        self.by_address[connection.network] -= 1
        if not self.by_address[connection.network]:
            del self.by_address[connection.network]

    def _close_one_that_waits(self) -> bool:
        """Close the connection without a request that has been waiting longest, if there is one."""
        waiting = [one for one in self.open if one.waits_for_headers]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda one: one.deadline)
        self.remove(oldest)
        oldest.transport.abort()
        return True

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close connections that are past their deadline, now and again."""
        now = loop.time()
        for connection in [one for one in self.open if one.deadline < now]:
            connection.close_late()
        self._checking = bool(self.open)
        if self._checking:
            loop.call_later(CHECK_SECONDS, self._check, loop)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP/1.1 with deadlines for headers, bodies and receivers, and a limit of the size of headers.

    Parameters
    ----------
    group
        The connections of this process.
    arguments
        As uvicorn gives them.
    """

    def __init__(self, group: Connections, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.group = group
        self.network = ""
        self.deadline = NEVER
        self.waits_for_headers = True  # and for nothing else
        self._is_in_headers = False  # of the next request, while another may be under way
        self._header_bytes = 0
        self._body_bytes = 0
        self._unwritten = 0  # bytes of a response, when they were last looked at
        self._is_received = False  # the whole request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self.network = network_of(self.client[0]) if self.client else ""
        self.deadline = self.loop.time() + self.group.limits.header_seconds
        if not self.group.add(self):
            self._close(503)

    def connection_lost(self, exc: Exception | None) -> None:
        self.deadline = NEVER
        self.group.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.parser is None or self.transport.is_closing():
            return
        was_in_headers = self._is_in_headers
        super().data_received(data)
        if was_in_headers and self._is_in_headers:
            self._header_bytes += len(data)
            if self._header_bytes > MAX_HEADER_BYTES:
                self._close(431)
        if len(self.pipeline) > MAX_PIPELINED:
            self.transport.abort()

    def on_message_begin(self) -> None:
        self._is_in_headers, self._header_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self.waits_for_headers = self._is_in_headers = self._is_received = False
        self._body_bytes = 0
        self.deadline = self.loop.time() + self.group.limits.body_seconds
        super().on_headers_complete()
        self.headers = _NoTrailers()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_received = True
        self.deadline = NEVER
        super().on_message_complete()
        if self.cycle.response_complete:  # before the end of the request
            self._wait_for_headers()

    def on_response_complete(self) -> None:
        is_last = not self.pipeline
        super().on_response_complete()
        if is_last and self._is_received:
            self._wait_for_headers()
        elif is_last:
            self.deadline = self.loop.time() + DISCARD_SECONDS

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_receiver()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.deadline = NEVER
        if self.waits_for_headers:
            self._wait_for_headers()

    def close_late(self) -> None:
        """Close the connection at its deadline, unless data moves fast enough or the delay is ours."""
        if self.transport.is_closing() or self.flow.write_paused:
            if self._unwritten - self.transport.get_write_buffer_size() < MIN_WRITTEN_BYTES:
                self.transport.abort()
            else:
                self._wait_for_receiver()
        elif self.waits_for_headers or self.cycle.response_complete:
            self._close(408 if self._is_in_headers else None)
        elif self.flow.read_paused:
            self.deadline = self.loop.time() + self.group.limits.body_seconds
        else:
            self._extend_for_body()

    def _extend_for_body(self) -> None:
        """More time for a body by what has arrived of it, or the end of the request."""
        seconds = min(self._body_bytes / MIN_BYTES_PER_SECOND, self.group.limits.body_seconds)
        self._body_bytes = 0
        if seconds >= 1:
            self.deadline = self.loop.time() + seconds
            return
        self._close(None if self.cycle.response_started else 408)
        self.cycle.disconnected = True  # which ends the wait of the application
        self.cycle.message_event.set()

    def _wait_for_headers(self) -> None:
        """From now on, the next request has to begin soon, and to arrive in time."""
        self.waits_for_headers = True
        if self.flow.write_paused:
            self._wait_for_receiver()
        else:
            self.deadline = self.loop.time() + KEEP_ALIVE_SECONDS + self.group.limits.header_seconds

    def _wait_for_receiver(self) -> None:
        self._unwritten = self.transport.get_write_buffer_size()
        self.deadline = self.loop.time() + WRITE_SECONDS

    def _close(self, status: int | None) -> None:
        """Close the connection; with a status, after a response for which there is no whole request."""
        if status is not None:
            message = REASONS[status].encode()
            head = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n" % len(message)
            self.transport.write(STATUS_LINE[status] + head + b"connection: close\r\n\r\n" + message)
        self.transport.close()
        self._wait_for_receiver()


class _NoTrailers(list[tuple[bytes, bytes]]):
    """Headers after a body, which nobody reads: they are not kept."""

    def append(self, _: tuple[bytes, bytes]) -> None:
        pass
