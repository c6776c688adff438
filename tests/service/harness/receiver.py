"""A requester's server, which receives webhooks on this machine."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

from crowdpilot.service.settings import Network

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"),)


class Receiver(ThreadingHTTPServer):
    """Keeps what it gets, and answers as it is told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int] = []  # then 200
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.released = threading.Event()  # until then it is slow, if `slow`
        self.slow = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def received(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a sender that hangs up


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        if self.server.slow:
            self.server.released.wait(30)
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", self.server.address + "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver that runs meanwhile."""
    server = Receiver()
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
