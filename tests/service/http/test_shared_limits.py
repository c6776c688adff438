"""Rate limits and metrics of several web processes are those of one service."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.service.harness.processes import serving
from tests.service.harness.service import sqlite_url

pytestmark = pytest.mark.thorough  # starts services

REQUESTS = 150
COUNTED = re.compile(r'crowdpilot_requests_total\{status="200"\} (\d+)')


def status(address: str) -> int:
    """Of a request over a new connection, so that any of the processes may get it."""
    try:
        return int(urllib.request.urlopen(f"{address}/healthz", timeout=10).status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def test_an_address_gets_no_more_from_several_processes(tmp_path: Path) -> None:
    with serving(sqlite_url(tmp_path), web=3, requests_per_second=0.001, burst=1) as service:
        answered = [status(service.address) for _ in range(REQUESTS)].count(200)
    assert 40 <= answered <= 50  # at once, as one process allows; the supervisor has asked before


def test_metrics_add_up_over_processes_and_their_restarts(tmp_path: Path) -> None:
    import random

    from tests.service.harness.waiting import eventually

    with serving(sqlite_url(tmp_path), web=2) as service:

        def counted() -> int:
            text = urllib.request.urlopen(f"{service.address}/metrics", timeout=10).read().decode()
            found = COUNTED.search(text)
            return int(found[1]) if found else 0

        for _ in range(REQUESTS):
            assert status(service.address) == 200
        assert all(counted() >= REQUESTS for _ in range(10))
        service.kill("web", random.Random(0))
        eventually(lambda: len(service.children("web")) == 2)
        assert all(counted() >= REQUESTS for _ in range(10))


def test_the_folder_that_processes_share_ends_with_the_service(tmp_path: Path) -> None:
    def folders() -> set[Path]:
        return set(Path("/dev/shm").glob("crowdpilot-*"))

    before = folders()
    with serving(sqlite_url(tmp_path), web=1):
        own = folders() - before
        assert own
        assert all(folder.stat().st_mode & 0o077 == 0 for folder in own)
    assert not own & folders()
