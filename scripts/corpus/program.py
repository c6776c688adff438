"""A program that is run on loopback to make a file of the corpus, and a client that signs in to it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

START_SECONDS = 90.0
CHECK_SECONDS = 0.5


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: Sequence[str | Path], log: Path, settings: Mapping[str, str]) -> Iterator[None]:
    """The program while the block runs; it and what it has started end with the block."""
    environment = {**os.environ, **settings}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, cwd=log.parent, start_new_session=True
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


class Client:
    """Requests to a program on loopback, with the cookies of one user."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def send(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> bytes:
        """The content of the answer; an error quotes what the program says."""
        headers = {"Content-Type": kind, "Referer": self.address, "X-CSRFToken": self._csrf()}
        request = urllib.request.Request(self.address + path, body, headers, method=method)
        try:
            with self.opener.open(request, timeout=120) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read()[:500]!r}") from error

    def call(self, method: str, path: str, value: Any = None) -> Any:
        """The same with JSON."""
        answer = self.send(method, path, None if value is None else json.dumps(value).encode())
        return json.loads(answer) if answer else None

    def submit(self, path: str, fields: Mapping[str, str]) -> bytes:
        """The same with the fields of a form."""
        form = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": self._csrf()}).encode()
        return self.send("POST", path, form, "application/x-www-form-urlencoded")

    def wait(self, path: str) -> None:
        """Until the program answers."""
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                self.send("GET", path)
                return
            except (RuntimeError, OSError):
                if time.monotonic() > end:
                    raise
                time.sleep(CHECK_SECONDS)

    def _csrf(self) -> str:
        return next((str(cookie.value) for cookie in self.cookies if cookie.name == "csrftoken"), "")
