"""Downloads end at their deadline, however slowly a server answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from crowdpilot.service.jobs.imports import download as downloads
from crowdpilot.service.jobs.imports.download import download
from tests.service.harness.receiver import LOOPBACK

HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
DRIPS = {
    "status line": (b"", b"HTTP/1.1 200 " + b"O" * 1000),
    "headers": (HEAD, b"X: " + b"y" * 1000),
    "body": (HEAD + b"\r\n", b"z" * 1000),
    "body of known length": (HEAD + b"Content-Length: 1000\r\n\r\n", b"z" * 1000),
    "size of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 1000),
    "chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n", b"z" * 1000),
}


@pytest.fixture
def drip(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that sends a part at once, and the rest byte by byte for many seconds."""
    at_once, slowly = request.param
    over = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(at_once)
            for n in range(len(slowly)):
                if over.wait(0.05):
                    return
                try:
                    connection.sendall(slowly[n : n + 1])
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/items.csv"
        over.set()
        thread.join()


@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS.keys(), indirect=True)
def test_a_server_that_sends_byte_by_byte_is_left_at_the_deadline(
    drip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "DEADLINE_SECONDS", 0.5)
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        download(drip, 1 << 20, LOOPBACK)
    assert time.monotonic() - begun < 2
