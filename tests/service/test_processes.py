"""The processes of the service: they come back when they die, and all end together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.processes import supervise
from tests.service.harness.tiny_service import start_service
from tests.service.harness.waiting import eventually

pytestmark = pytest.mark.thorough  # starts and kills processes

Start = Callable[..., tuple[Any, str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the tiny service and wait for its address."""
    running: list[subprocess.Popen[str]] = []

    def begin(**options: Any) -> tuple[subprocess.Popen[str], str]:
        running.append(start_service(tmp_path, **options))
        assert running[-1].stdout is not None
        return running[-1], running[-1].stdout.readline().strip()

    yield begin
    for parent in running:
        parent.kill()
        parent.communicate(timeout=20)


def end_of(parent: subprocess.Popen[str]) -> str:
    """What the service said in errors, once no process of it is left to hold the stream open."""
    return parent.communicate(timeout=20)[1]


def ask(address: str, path: str = "/pid") -> int | None:
    """Process number of who answers, or None for nobody."""
    try:
        with urllib.request.urlopen(address + path, timeout=10) as answer:
            return int(answer.read())
    except (OSError, HTTPException):
        return None


def another(address: str, known: set[int]) -> int | None:
    """Process number of who answers, if it is not a known one."""
    return next(iter({ask(address)} - known), None)


def job_process(folder: Path, name: str = "jobs-1", but: int = 0) -> int | None:
    """Process number which a job process has written down, if it is not the known one."""
    note = folder / name
    text = note.read_text() if note.exists() else ""
    return int(text) if text and int(text) != but else None


def test_a_killed_web_process_comes_back_and_requests_are_answered(start: Start) -> None:
    _, address = start(jobs=0)
    before = ask(address)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    after = eventually(lambda: ask(address))
    assert after != before


def test_callers_wait_while_a_web_process_is_started_again(start: Start) -> None:
    _, address = start(jobs=0)
    first = ask(address)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    eventually(lambda: not is_alive(first))
    assert ask(address) not in (None, first)


def is_alive(number: int) -> bool:
    """Whether a process runs; one that only waits to be buried does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_one_killed_web_process_does_not_disturb_the_other(start: Start) -> None:
    _, address = start(web=2, jobs=0)
    one = ask(address)
    assert one is not None
    other = eventually(lambda: another(address, {one}))
    os.kill(one, signal.SIGKILL)
    eventually(lambda: not is_alive(one))
    assert ask(address) == other
    assert eventually(lambda: another(address, {one, other}))


def test_a_killed_job_process_comes_back(start: Start, tmp_path: Path) -> None:
    start(jobs=1)
    before = eventually(lambda: job_process(tmp_path))
    os.kill(before, signal.SIGKILL)
    assert eventually(lambda: job_process(tmp_path, but=before))


@pytest.mark.parametrize(
    "end",
    [subprocess.Popen.terminate, lambda parent: os.killpg(parent.pid, signal.SIGINT)],
    ids=["term", "ctrl-c"],
)
def test_a_signal_ends_all_processes_in_good_order(
    end: Callable[[Any], None], start: Start, tmp_path: Path
) -> None:
    """SIGTERM reaches the parent alone, Ctrl-C all of them."""
    parent, address = start(web=2, jobs=2)
    eventually(lambda: job_process(tmp_path, "jobs-1") and job_process(tmp_path, "jobs-2"))
    began = time.monotonic()
    end(parent)
    assert end_of(parent) == ""
    assert parent.returncode == 0
    assert time.monotonic() - began < 8
    assert {"closed", "jobs-1.ended", "jobs-2.ended"} <= {path.name for path in tmp_path.iterdir()}
    assert ask(address) is None


def test_a_request_under_way_is_answered_before_the_service_ends(start: Start, tmp_path: Path) -> None:
    parent, address = start(jobs=0)
    with ThreadPoolExecutor() as callers:
        answer = callers.submit(ask, address, "/slow")
        eventually((tmp_path / "asked").exists)
        parent.terminate()
        assert answer.result() is not None
    assert end_of(parent) == ""


def test_when_the_parent_is_killed_all_processes_end(start: Start, tmp_path: Path) -> None:
    parent, address = start(web=2, jobs=2)
    eventually(lambda: job_process(tmp_path, "jobs-1") and job_process(tmp_path, "jobs-2"))
    parent.kill()
    end_of(parent)
    assert ask(address) is None
    assert {"jobs-1.ended", "jobs-2.ended"} <= {path.name for path in tmp_path.iterdir()}


def test_a_web_process_asked_to_stop_ends_in_good_order_and_is_replaced(start: Start, tmp_path: Path) -> None:
    _, address = start(jobs=0)
    before = ask(address)
    assert before is not None
    os.kill(before, signal.SIGTERM)
    eventually((tmp_path / "closed").exists)
    assert eventually(lambda: ask(address)) != before


def test_a_port_in_use_is_an_error_of_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError) as caught:
            supervise({}, host="127.0.0.1", port=port)
    expected = f"port {port} of 127.0.0.1 is in use; stop what listens there or choose another port"
    assert str(caught.value) == expected


def test_an_address_that_cannot_be_used_is_an_error_of_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^cannot listen at 192.0.2.1, port 0 \(.+\); choose another"):
        supervise({}, host="192.0.2.1", port=0)


def test_an_impossible_port_is_an_error_of_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^there is no port 70000; choose one up to 65535"):
        supervise({}, host="127.0.0.1", port=70000)


@pytest.mark.parametrize(("part", "name"), [("app", "web-1"), ("runner", "jobs-1")])
def test_a_part_that_never_works_ends_the_service_with_a_sentence(part: str, name: str, start: Start) -> None:
    parent, _ = start(**{part: "tests.equip:not_there"})
    said = end_of(parent)
    assert parent.returncode == 1
    assert said.splitlines()[-1] == (
        f"crowdpilot: {name} ended 5 times in a row soon after its start (last with code 1); "
        "mend what the errors above say and start the service again"
    )
    assert said.count("AttributeError") == 5
