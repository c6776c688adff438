"""The work of one project holds up no other: neither its reads, nor its leases, nor its locks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from crowdpilot.service.labelling import labelling_service
from crowdpilot.service.store import projects
from tests.service.harness.service import Project, Service

PATIENCE = 60.0  # seconds after which a test gives up


@pytest.fixture
def service(database_url: str) -> Iterator[Service]:
    made = Service(database_url)
    yield made
    made.close()


@contextmanager
def busy(project: Project) -> Iterator[Future[Any]]:
    """The replica of a project is in use until the end of the block; what becomes of that use."""
    labelling, begun, over = project.service.app.state.labelling, threading.Event(), threading.Event()

    def use(*_: Any) -> bool:
        begun.set()
        return over.wait(PATIENCE)

    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(asyncio.run, labelling.read(project.id, use))
        try:
            assert begun.wait(PATIENCE)
            yield outcome
        finally:
            over.set()


def in_time(function: Any, *args: Any) -> Any:
    """The result of a call that must come back by itself, in a thread so that the test can give up."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *args).result(PATIENCE / 2)


def labelled(service: Service) -> tuple[Project, Any]:
    project = service.project()
    project.add_texts(5)
    return project, project.worker()


def test_a_worker_gets_items_while_another_project_is_busy(service: Service) -> None:
    (slow, _), (_, worker) = labelled(service), labelled(service)
    with busy(slow) as outcome:
        leased = in_time(worker.next, 3)
        assert len(leased) == 3
        assert in_time(worker.vote, leased[0]["item"], "good").status_code == 201
        assert not outcome.done()
    assert outcome.result()


def test_many_busy_projects_hold_up_no_other(service: Service) -> None:
    slow, (_, worker) = [labelled(service)[0] for _ in range(4)], labelled(service)
    with busy(slow[0]), busy(slow[1]), busy(slow[2]), busy(slow[3]):
        assert len(in_time(worker.next, 3)) == 3


def test_a_request_for_a_project_that_is_loaded_too_long_is_told_to_come_back(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, worker = labelled(service)
    with busy(project):
        monkeypatch.setattr(labelling_service, "MAX_WAIT_SECONDS", 0.05)
        for refused in (in_time(worker.send, "GET", "/api/next"), in_time(project.get)):
            assert refused.status_code == 503
            assert "being loaded" in refused.json()["detail"]
            assert int(refused.headers["Retry-After"]) >= 1
        monkeypatch.undo()
    assert len(worker.next(5)) == 5
    assert project.get().json()["status"]["items"] == 5


def test_a_reader_may_take_longer_than_a_request_waits_for_loading(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = labelled(service)
    monkeypatch.setattr(labelling_service, "MAX_WAIT_SECONDS", 0.05)
    with busy(project) as outcome:
        threading.Event().wait(0.3)
    assert outcome.result()


@pytest.mark.thorough
def test_a_lock_on_one_project_holds_up_the_votes_of_no_other(postgres: Any) -> None:
    with postgres.database() as url:
        service = Service(url)
        (locked, one), (_, two) = labelled(service), labelled(service)
        mine, other = one.next(1)[0]["item"], two.next(1)[0]["item"]
        with ThreadPoolExecutor(1) as thread:
            with service.store.writing() as c:  # as an upload that takes long
                projects.next_change(c, locked.id)
                waiting = thread.submit(one.vote, mine, "good")
                assert in_time(two.vote, other, "good").status_code == 201
                assert not waiting.done()
            assert waiting.result().status_code == 201
        service.close()
