"""The service in processes of its own, which can be killed; and a caller over HTTP who does not give up."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crowdpilot.service.store import Store
from crowdpilot.service.store.requesters import keys, members
from tests.service.harness.service import migrated_store, settings_of
from tests.service.harness.waiting import eventually


@dataclass
class ProcessService:
    """The service in processes of its own: its address, its parent process, and a key of a requester."""

    parent: subprocess.Popen[str]
    address: str
    store: Store
    key: str

    def children(self, what: str) -> list[int]:
        """Process numbers of those that answer ('web') or work ('jobs'), by what they wait for."""
        pids = Path(f"/proc/{self.parent.pid}/task/{self.parent.pid}/children").read_text().split()
        shared = {link for link in _open(self.parent.pid) if link.startswith("socket:")}
        return [pid for pid in map(int, pids) if _role(pid, shared) == what]

    def memory(self, what: str = "web", field: str = "VmRSS") -> float:
        """Megabytes that the first process of this kind holds; "VmHWM" is the most that it ever held."""
        pid = eventually(lambda: self.children(what))[0]
        status = Path(f"/proc/{pid}/status").read_text()
        return float(status.split(f"{field}:")[1].split()[0]) / 1024

    def kill(self, what: str, rng: random.Random) -> int:
        """Kill one process of this kind, if there is one; how many were killed."""
        found = self.children(what)
        if not found:
            return 0
        os.kill(rng.choice(found), signal.SIGKILL)
        return 1


def _role(pid: int, shared: set[str]) -> str:
    """Web processes hold the socket at which the parent listens; others with a database do jobs."""
    held = _open(pid)
    if held & shared:
        return "web"
    return "jobs" if any(link.startswith("socket:") or link.endswith(".db") for link in held) else ""


def _open(pid: int) -> set[str]:
    """What a process has open; what it closes meanwhile, or all if it has just ended, is left out."""
    found = set()
    with suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return found


@contextmanager
def serving(url: str, web: int, **options: Any) -> Iterator[ProcessService]:
    """The service over a migrated database, with further settings, until the end of the block."""
    store = migrated_store(url)
    with store.writing() as c:
        key = keys.create(c, members.find_or_create(c, "tests", operator=True).id, "tests", "admin")
    code = f"""
import logging
from ipaddress import IPv4Network
from crowdpilot.service.settings import Settings
from crowdpilot.service.processes import supervise
logging.disable(logging.WARNING)
supervise(Settings(**{settings_of(url, **options)!r}), host="127.0.0.1", port=0, web={web}, jobs=1,
          ready=lambda address: print(address, flush=True))
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    try:
        yield ProcessService(parent, parent.stdout.readline().strip(), store, key)
    finally:
        parent.terminate()
        parent.wait(timeout=30)
        parent.stdout.close()
        store.close()


# A caller who does not give up


class Caller:
    """One keep-alive connection; what gets no answer, or 503, is sent again as it was."""

    def __init__(self, address: str, token: str = "", key: str = "", until: float = 60.0) -> None:
        where = urlsplit(address)
        self.host, self.port = where.hostname or "", where.port or 0
        self.headers = {"Content-Type": "application/json"}
        self.headers |= {"Authorization": f"Bearer {token}"} if token else {}
        self.headers |= {"X-API-Key": key} if key else {}
        self.deadline = time.monotonic() + until
        self.again = 0
        self._line: http.client.HTTPConnection | None = None

    def once(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON; an `OSError` or `HTTPException` if there is no answer."""
        if self._line is None:
            self._line = http.client.HTTPConnection(self.host, self.port, timeout=20)
        try:
            self._line.request(method, path, None if body is None else json.dumps(body), self.headers)
            answer = self._line.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        return answer.status, json.loads(data) if data else None

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The answer, however often it takes until the deadline."""
        while time.monotonic() < self.deadline:
            try:
                status, found = self.once(method, path, body)
                if status not in (502, 503):
                    return status, found
            except (OSError, http.client.HTTPException):
                pass
            self.again += 1
            time.sleep(0.02)
        raise TimeoutError(f"no answer to {method} {path}")

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
            self._line = None
