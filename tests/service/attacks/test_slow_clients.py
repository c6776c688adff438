"""Slow and broken clients: half requests, slow bodies, many connections; others are served meanwhile."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from tests.service.harness.processes import ProcessService, serving
from tests.service.harness.raw_http import connect, head, is_closed, read_response, send_all
from tests.service.harness.service import sqlite_url
from tests.service.harness.waiting import eventually

pytestmark = pytest.mark.thorough  # starts a service

MAX_CONNECTIONS = 60
HALF = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"G", id="a letter"),
    pytest.param(b"GET /healthz HTTP/1.1\r\nhost: x\r\n", id="headers without an end"),
    pytest.param(b"\r\n", id="an empty line"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessService]:
    """A service with little patience."""
    url = sqlite_url(tmp_path_factory.mktemp("slow"))
    limits = {"header_seconds": 1.0, "body_seconds": 1.0, "max_connections": MAX_CONNECTIONS}
    with serving(url, web=1, **limits) as running:
        yield running


def is_served(service: ProcessService) -> bool:
    """Whether somebody else gets an answer."""
    return bool(urllib.request.urlopen(f"{service.address}/healthz", timeout=10).status == 200)


def open_sockets(service: ProcessService) -> int:
    """Connections and other sockets that the web process holds."""
    from tests.service.harness.processes import _open

    return sum(link.startswith("socket:") for link in _open(service.children("web")[0]))


@pytest.mark.parametrize("sent", HALF)
def test_a_half_request_is_ended(service: ProcessService, sent: bytes) -> None:
    with connect(service.address) as sock:
        sock.sendall(sent)
        eventually(lambda: is_closed(sock))
    assert is_served(service)


def test_a_half_request_is_told_why(service: ProcessService) -> None:
    with connect(service.address) as sock:
        sock.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n")
        response = read_response(sock)
    assert (response.status, b"in time" in response.body) == (408, True)


def test_so_is_a_connection_that_is_kept_open_between_requests(service: ProcessService) -> None:
    with connect(service.address) as sock:
        sock.sendall(head("GET", "/healthz"))
        assert read_response(sock).status == 200
        sock.sendall(b"\r\n")  # which ends uvicorn's own time limit
        eventually(lambda: is_closed(sock))


def trickle(sock: socket.socket, part: bytes, stop: threading.Event) -> None:
    """Send a little now and again until the other side has had enough."""
    while not stop.wait(0.1) and send_all(sock, [part]):
        pass


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (b"GET /healthz HTTP/1.1\r\n", b"x-a: b\r\n"),
        (head("POST", "/api/sessions", content_length=50_000, content_type="application/json"), b" "),
        (
            head("POST", "/login", content_length=50_000, content_type="application/x-www-form-urlencoded"),
            b"a",
        ),
    ],
    ids=["headers", "JSON", "form"],
)
def test_a_request_that_comes_by_and_by_is_ended(service: ProcessService, start: bytes, part: bytes) -> None:
    stop = threading.Event()
    with connect(service.address) as sock:
        sock.sendall(start)
        sending = threading.Thread(target=trickle, args=(sock, part, stop))
        sending.start()
        try:
            assert read_response(sock).status == 408
        finally:
            stop.set()
            sending.join()
    assert is_served(service)


def test_more_half_requests_than_there_may_be_connections_hold_up_nobody(service: ProcessService) -> None:
    with ExitStack() as stack:
        for _ in range(4 * MAX_CONNECTIONS):
            stack.enter_context(connect(service.address)).sendall(
                b"POST /api/sessions HTTP/1.1\r\nhost: x\r\n"
            )
        assert is_served(service)
        assert open_sockets(service) < MAX_CONNECTIONS + 30
    eventually(lambda: open_sockets(service) < 30)


def test_nor_do_as_many_half_bodies(service: ProcessService) -> None:
    """The connections are busy, so that new ones are refused until the deadline of the bodies."""
    with ExitStack() as stack:
        for _ in range(2 * MAX_CONNECTIONS):
            sock = stack.enter_context(connect(service.address))
            send_all(sock, [head("POST", "/api/sessions", content_length=100) + b"{"])
        assert open_sockets(service) < MAX_CONNECTIONS + 30

        def answer() -> bool:
            with connect(service.address) as other:
                send_all(other, [head("GET", "/healthz")])
                return read_response(other).status == 200

        assert eventually(answer)


@pytest.mark.parametrize(
    "start", [b"GET /healthz HTTP/1.1\r\n", b"GET /", b"GET / HTTP/1.1\r\nx: "], ids=["many", "path", "long"]
)
def test_headers_without_end_take_no_memory(service: ProcessService, start: bytes) -> None:
    before = service.memory()
    part = (b"x-a: b\r\n" if start.endswith(b"\r\n") else b"aaaaaaaa") * 10_000
    with connect(service.address) as sock:
        assert send_all(sock, [start, *[part] * 400]) < 400 * len(part)
        response = read_response(sock)
    assert response.status in (431, 0)  # what was sent after the answer may have wiped it out
    assert service.memory(field="VmHWM") < before + 40


def test_headers_after_a_body_take_no_memory(service: ProcessService) -> None:
    before = service.memory()
    start = head("POST", "/api/sessions", transfer_encoding="chunked") + b"0\r\n"
    with connect(service.address) as sock:
        send_all(sock, [start, *[b"x-a: b\r\n" * 10_000] * 400])
        assert read_response(sock).status in (401, 408, 0)  # the deadline may come first
    assert service.memory(field="VmHWM") < before + 40


def test_a_connection_goes_on_after_a_body_that_was_refused(service: ProcessService) -> None:
    with connect(service.address) as sock:
        sock.sendall(head("POST", "/api/projects", content_length=200_000))
        assert read_response(sock).status == 401
        sock.sendall(b"x" * 200_000 + head("GET", "/healthz"))
        assert read_response(sock).status == 200


def test_requests_sent_without_waiting_for_responses_take_no_memory(service: ProcessService) -> None:
    before = service.memory()
    with connect(service.address) as sock:
        assert send_all(sock, [head("GET", "/healthz") * 2000] * 500) < 500 * 2000 * len(
            head("GET", "/healthz")
        )
    assert service.memory(field="VmHWM") < before + 40
    with connect(service.address) as sock:
        sock.sendall(head("GET", "/healthz") * 20)  # a few are answered one after the other
        received = b""
        while received.count(b"HTTP/1.1 200") < 20:
            received += sock.recv(65536)


def test_one_address_gets_only_so_many_connections(tmp_path_factory: pytest.TempPathFactory) -> None:
    url = sqlite_url(tmp_path_factory.mktemp("slow"))
    with serving(url, web=1, max_connections_per_address=5) as service, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connect(service.address)).sendall(b"GET")
        with connect(service.address) as one_more:
            response = read_response(one_more)
    assert (response.status, b"too many connections" in response.body) == (503, True)


def test_what_nobody_reads_is_not_kept_for_ever(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that takes nothing of a response is disconnected."""
    import uvicorn

    from crowdpilot.service.http import connections

    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.5)
    ended = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            for _ in range(10_000):
                await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        finally:
            ended.set()

    protocol = connections.Connections(connections.Limits()).protocol
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_config=None, access_log=False)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    eventually(lambda: server.started)
    with socket.create_connection(listener.getsockname()) as sock:
        sock.sendall(head("GET", "/"))
        assert ended.wait(20)
    server.should_exit = True
    thread.join(20)
    listener.close()


def test_behind_a_proxy_all_connections_may_come_from_one_address() -> None:
    from crowdpilot.service.http.web_server import _limits
    from crowdpilot.service.settings import Settings

    limits = _limits(Settings(secret="s" * 40, proxies=(ip_network("127.0.0.1"),)))
    assert (limits.per_address, limits.total > 0) == (None, True)


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("/login", "application/x-www-form-urlencoded"),
        ("/login", "multipart/form-data; boundary=x"),
        ("/api/sessions", "application/json"),
    ],
)
def test_clients_that_go_away_do_not_fill_the_log(tmp_path: Path, path: str, type: str) -> None:
    command = [sys.executable, "-m", "crowdpilot", "serve", "--port", "0", "--jobs", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = process.stderr.readline().split()[-1]
        process.stderr.readline()
        for _ in range(5):
            with connect(address) as sock:
                sock.sendall(head("POST", path, content_length=1000, content_type=type) + b"x")
        with connect(address) as sock:
            sock.sendall(head("GET", "/healthz"))
            assert read_response(sock).status == 200
    finally:
        process.send_signal(signal.SIGINT)
        logged = process.communicate(timeout=30)[1]
    assert logged == ""
