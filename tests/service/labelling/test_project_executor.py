"""A project executor runs what belongs to one project in turn, and several projects beside each other."""

from __future__ import annotations

import threading
import time

import pytest

from crowdpilot.service.labelling.project_executor import ProjectExecutor


def test_what_belongs_to_one_project_runs_in_order_and_never_at_the_same_time() -> None:
    executor, running = ProjectExecutor(4, "test"), threading.Lock()
    log: list[int] = []

    def task(n: int) -> int:
        assert running.acquire(blocking=False)
        time.sleep(0.001)
        log.append(n)
        running.release()
        return n

    futures = [executor.submit("a", task, n) for n in range(50)]
    assert [future.result() for future in futures] == log == list(range(50))
    executor.close()


def test_one_project_does_not_wait_for_another() -> None:
    executor, event = ProjectExecutor(2, "test"), threading.Event()
    waits = executor.submit("a", event.wait, 60)
    assert executor.submit("b", event.is_set).result(30) is False
    event.set()
    assert waits.result()
    executor.close()


def test_with_one_thread_projects_take_turns() -> None:
    executor, begin = ProjectExecutor(1, "test"), threading.Event()
    log: list[str] = []
    executor.submit("a", begin.wait, 60)
    for project in "aaabbb":
        executor.submit(project, log.append, project)
    begin.set()
    executor.close()
    assert "".join(log) in ("ababab", "bababa")


def test_an_error_reaches_who_waits_and_the_next_runs() -> None:
    executor = ProjectExecutor(1, "test")
    fails, works = executor.submit("a", int, "no number"), executor.submit("a", int, "3")
    with pytest.raises(ValueError, match="no number"):
        fails.result()
    assert works.result() == 3
    executor.close()


def test_what_is_cancelled_does_not_run() -> None:
    executor, begin = ProjectExecutor(1, "test"), threading.Event()
    log: list[int] = []
    executor.submit("a", begin.wait, 60)
    assert executor.submit("a", log.append, 1).cancel()
    begin.set()
    executor.close()
    assert log == []
