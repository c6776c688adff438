from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from crowdpilot.service.errors import ServiceUnavailableError
from crowdpilot.service.jobs import runner
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import Store, jobs, migrate, projects
from crowdpilot.service.store.engine import Row
from tests.service.harness.jobs import JobService
from tests.service.harness.waiting import eventually

NAMES = [f"i{n}" for n in range(30)]


def rows(service: JobService, project: str) -> list[Row]:
    with service.store.reading() as c:
        return list(jobs.latest(c, project, 500))


def hasten(service: JobService, project: str) -> None:
    """Let what waits for its next try be due."""
    with service.store.writing() as c:
        c.exec_driver_sql(f"UPDATE jobs SET due = 0 WHERE project = '{project}' AND state = 'queued'")


@pytest.fixture
def jobs_of_mine(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The list of jobs, to which a test may add some of its own."""
    mine: dict[str, Any] = dict(runner.JOBS)
    monkeypatch.setattr(runner, "JOBS", mine)
    return mine


def test_two_runners_never_run_two_jobs_of_one_project_at_once(
    any_service: JobService, jobs_of_mine: dict[str, Any]
) -> None:
    service, kinds = any_service, ["a", "b", "c", "d"]
    made = [service.create() for _ in range(3)]
    busy: dict[str, int] = dict.fromkeys(made, 0)
    most, together, done = dict(busy), 0, 0
    lock = threading.Lock()

    def slow(context: JobContext, job: Row) -> dict[str, Any]:
        nonlocal together, done
        with lock:
            busy[job.project] += 1
            most[job.project] = max(most[job.project], busy[job.project])
            together = max(together, sum(busy.values()))
        time.sleep(0.03)
        with lock:
            busy[job.project] -= 1
            done += 1
        return {}

    jobs_of_mine.update(dict.fromkeys(kinds, slow))
    for project in made:
        for kind in kinds:
            service.enqueue(project, kind)
    stop = threading.Event()
    threads = [
        threading.Thread(target=runner.run, args=(service.settings, f"jobs-{n}", stop)) for n in range(3)
    ]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: done == 12, 30)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert set(most.values()) == {1}
    assert together > 1
    assert {(row.state, row.tries) for project in made for row in rows(service, project)} == {("done", 1)}


def test_a_job_that_fails_is_retried_and_records_its_error(
    any_service: JobService, jobs_of_mine: dict[str, Any]
) -> None:
    service = any_service
    project = service.create()
    tried = []

    def broken(context: JobContext, job: Row) -> None:
        tried.append(job.tries)
        raise ValueError("the glass is broken")

    jobs_of_mine["broken"] = broken
    service.enqueue(project, "broken")
    waits = []
    for _ in range(jobs.MAX_TRIES):
        service.do_jobs()
        (row,) = rows(service, project)
        waits.append(row.due - time.time())
        hasten(service, project)
    assert tried == list(range(1, jobs.MAX_TRIES + 1))
    assert (row.state, row.tries, row.error) == ("failed", jobs.MAX_TRIES, "ValueError: the glass is broken")
    assert waits[3] > waits[2] > waits[1] > waits[0] > 0
    assert not runner.step(service.context, "tester")
    with service.requester() as client:
        (seen,) = client.get(f"/api/projects/{project}/jobs").json()["jobs"]
    assert (seen["kind"], seen["state"], seen["tries"]) == ("broken", "failed", jobs.MAX_TRIES)
    assert seen["error"] == "ValueError: the glass is broken"


def test_a_job_of_unknown_kind_fails(service: JobService) -> None:
    project = service.create()
    service.enqueue(project, "dance")
    service.do_jobs()
    assert rows(service, project)[0].error == "KeyError: 'dance'"


def test_the_job_of_a_dead_runner_is_queued_again(any_service: JobService) -> None:
    service = any_service
    project = service.create()
    service.add(project, 30)
    service.vote(project, NAMES)
    service.enqueue(project, "refit")
    with service.store.writing() as c:
        assert jobs.claim(c, "dead") is not None
    service.do_jobs()
    assert rows(service, project)[0].state == "running"
    with service.store.writing() as c:
        jobs.requeue_abandoned(c, "somebody else")
        assert jobs.claim(c, "tester") is None
        c.exec_driver_sql("UPDATE jobs SET claimed_until = 1.0")
        jobs.requeue_abandoned(c, "somebody else")
    (row,) = rows(service, project)
    assert (row.state, row.tries, row.error) == ("queued", 1, jobs.DIED)
    hasten(service, project)
    service.do_jobs()
    assert {row.state for row in rows(service, project)} == {"done"}
    with service.store.reading() as c:
        assert projects.find(c, project).fitted == 90


def test_a_restarted_runner_queues_its_own_job_again_at_once(any_service: JobService) -> None:
    project = any_service.create()
    any_service.enqueue(project, "refit")
    with any_service.store.writing() as c:
        assert jobs.claim(c, "jobs-1") is not None
        jobs.requeue_abandoned(c, "jobs-1")
    assert rows(any_service, project)[0].state == "queued"


def test_a_runner_that_lost_its_claim_writes_nothing(any_service: JobService) -> None:
    service = any_service
    project = service.create()
    service.add(project, 30)
    service.vote(project, NAMES)
    service.enqueue(project, "refit")
    with service.store.writing() as c:
        late = jobs.claim(c, "late")
        assert late is not None
        jobs.requeue_abandoned(c, "late")
        c.exec_driver_sql("UPDATE jobs SET due = 0")
        assert jobs.claim(c, "prompt") is not None
    with pytest.raises(jobs.JobLostError):
        runner.JOBS["refit"](service.context, late)
    with service.store.writing() as c:
        jobs.finish(c, late, {"votes": 0})
        jobs.fail(c, late, "late")
        assert projects.find(c, project).update_number == 0
    (row,) = rows(service, project)
    assert (row.state, row.runner, row.error) == ("running", "prompt", jobs.DIED)


def test_the_claim_of_a_running_job_is_renewed(
    service: JobService, jobs_of_mine: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "RENEWAL_SECONDS", 0.02)
    project = service.create()

    def long(context: JobContext, job: Row) -> dict[str, Any]:
        eventually(lambda: rows(service, project)[0].claimed_until > job.claimed_until)
        return {}

    jobs_of_mine["long"] = long
    service.enqueue(project, "long")
    service.do_jobs()
    assert rows(service, project)[0].state == "done"


def test_a_job_queued_twice_runs_once(any_service: JobService) -> None:
    project = any_service.create()
    for _ in range(3):
        any_service.enqueue(project, "refit")
    assert len(rows(any_service, project)) == 1


def test_a_refit_runs_before_a_forecast_that_was_queued_first(service: JobService) -> None:
    first, second = service.create(), service.create()
    service.enqueue(first, "forecast")
    service.enqueue(second, "refit")
    with service.store.writing() as c:
        job = jobs.claim(c, "tester")
    assert job is not None
    assert job.project == second


def test_old_jobs_are_deleted_but_not_the_last_result_of_a_kind(any_service: JobService) -> None:
    project = any_service.create()
    with any_service.store.writing() as c:
        jobs.record_done(c, project, "forecast", {"n": 0})
        for n in range(jobs.MAX_ENDED_PER_PROJECT + 20):
            jobs.record_done(c, project, "audit", {"n": n})
        left = jobs.latest(c, project, 500)
        last = jobs.last_done(c, project, "forecast")
    assert len(left) == jobs.MAX_ENDED_PER_PROJECT + 1
    assert left[0].result == {"n": jobs.MAX_ENDED_PER_PROJECT + 19}
    assert last is not None


def test_the_runner_expires_leases(any_service: JobService) -> None:
    service = any_service
    project = service.create(lease=1.0, costs={"prices": {"crowd": 0.3}})
    service.add(project, 30)
    service.vote(project, NAMES, each=3)
    service.refit(project)
    with service.store.writing() as c:
        c.exec_driver_sql(
            "UPDATE votes SET state = 'leased', expires = 1.0 WHERE worker = (SELECT max(worker) FROM votes)"
        )
        projects.next_change(c, project, votes=-30)
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(service.settings, "jobs-1", stop))
    thread.start()
    try:
        eventually(
            lambda: [
                row for row in rows(service, project) if row.kind == "completion" and row.state == "done"
            ]
        )
    finally:
        stop.set()
        thread.join()


@contextmanager
def running(service: JobService) -> Iterator[None]:
    """A runner in a thread."""
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(service.settings, "jobs-1", stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def state_of(service: JobService, project: str) -> str:
    return str(rows(service, project)[0].state)


def test_an_import_that_hangs_keeps_no_other_job_waiting(service: JobService) -> None:
    importing, other = service.create(), service.create()
    service.add(other, 5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/items.csv"
        service.settings = replace(service.settings, import_from=(address,))
        with running(service):
            service.enqueue(importing, "import", address=address, actor="ann")
            connection, _ = silent.accept()
            service.enqueue(other, "completion")
            eventually(lambda: state_of(service, other) == "done")
            assert state_of(service, importing) == "running"
            connection.recv(1 << 16)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nname,text\na,Good.\n")
            connection.close()
            eventually(lambda: state_of(service, importing) == "done")
    assert service.result(importing, "import")["items"] == 1


def test_imports_take_turns_and_keep_their_claims_meanwhile(
    service: JobService, jobs_of_mine: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "RENEWAL_SECONDS", 0.02)
    monkeypatch.setattr(jobs, "CLAIM_SECONDS", 0.3)
    monkeypatch.setattr(runner, "MAX_IMPORTS", 1)
    busy, most = 0, 0

    def slow(context: JobContext, job: Row) -> dict[str, Any]:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        time.sleep(0.6)
        busy -= 1
        return {}

    jobs_of_mine["import"] = slow
    made = [service.create() for _ in range(3)]
    with running(service):
        for project in made:
            service.enqueue(project, "import")
        eventually(lambda: {state_of(service, project) for project in made} == {"done"})
    assert most == 1
    assert {row.tries for project in made for row in rows(service, project)} == {1}


def test_an_import_that_finds_the_database_gone_is_done_later(
    service: JobService, jobs_of_mine: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "CLAIM_SECONDS", 0.1)
    monkeypatch.setattr(runner, "RENEWAL_SECONDS", 0.2)

    def unlucky(context: JobContext, job: Row) -> dict[str, Any]:
        if job.tries == 1:
            raise ServiceUnavailableError("the database is gone")
        return {}

    jobs_of_mine["import"] = unlucky
    project = service.create()
    with running(service):
        service.enqueue(project, "import")
        eventually(lambda: state_of(service, project) == "done")


def test_a_runner_survives_an_unavailable_database(
    service: JobService, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.create()
    service.add(project, 30)
    service.vote(project, NAMES)
    with service.store.writing() as c:
        c.exec_driver_sql("ALTER TABLE jobs RENAME TO hidden")
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(service.settings, "jobs-1", stop))
    thread.start()
    time.sleep(0.3)
    with service.store.writing() as c:
        c.exec_driver_sql("ALTER TABLE hidden RENAME TO jobs")
    service.enqueue(project, "refit")
    try:
        eventually(lambda: rows(service, project) and rows(service, project)[0].state == "done")
    finally:
        stop.set()
        thread.join()


def test_after_a_long_refit_there_is_a_pause(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'a.db'}")
    migrate(store)
    with store.writing() as c:
        project = projects.create(c, ProjectIn(name="x", classes=["a", "b"]).model_dump())
        jobs.record_done(c, project, "refit", {"seconds": 3.0})
        jobs.enqueue_refit(c, project)
        assert jobs.claim(c, "r") is None
        jobs.enqueue(c, project, "refit")  # nobody has anything to do until it is done
        assert jobs.claim(c, "r") is not None
    store.close()


def test_a_short_refit_needs_no_pause(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'a.db'}")
    migrate(store)
    with store.writing() as c:
        project = projects.create(c, ProjectIn(name="x", classes=["a", "b"]).model_dump())
        jobs.record_done(c, project, "refit", {"seconds": 0.1})
        jobs.enqueue_refit(c, project)
        assert jobs.claim(c, "r") is not None
    store.close()
