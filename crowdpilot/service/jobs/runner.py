"""The runner: a process that takes jobs from the database and does them, one after the other."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crowdpilot.service.errors import RequestError, ServiceUnavailableError
from crowdpilot.service.jobs import webhook_sender
from crowdpilot.service.jobs.calibration import calibrate
from crowdpilot.service.jobs.completion import settle
from crowdpilot.service.jobs.context import Bench
from crowdpilot.service.jobs.forecast import forecast
from crowdpilot.service.jobs.refit import refit
from crowdpilot.service.jobs.report import report
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs, leases, projects
from crowdpilot.service.store.engine import Row, Store

Job = Callable[[Bench, Row], Any]
JOBS: dict[str, Job] = {
    "refit": refit,
    "completion": settle,
    "calibration": calibrate,
    "forecast": forecast,
    "report": report,
}
NAP = 0.1  # seconds between looks when there is nothing to do
ALIVE = 3.0  # seconds between signs of life, and between looks after what others have left
logger = logging.getLogger(__name__)


def run(settings: Settings, name: str, stop: threading.Event) -> None:
    """Do jobs until told to stop; a job that is under way is finished first."""
    store = Store(settings.database)
    bench = Bench(store, settings)
    own = _full_name(name)
    sender = threading.Thread(
        target=webhook_sender.run, args=(store, settings, stop), name="courier", daemon=True
    )
    sender.start()
    begins, looked = True, 0.0
    while not stop.is_set():
        try:
            if begins or time.monotonic() - looked >= ALIVE:
                _look_after(store, own if begins else "")
                begins, looked = False, time.monotonic()
            if not step(bench, own):
                stop.wait(NAP)
        except ServiceUnavailableError:
            begins = True  # what it did is to be done again
            stop.wait(1.0)
    sender.join()
    store.close()


def step(bench: Bench, name: str) -> bool:
    """Do one job, if one is due; whether there was one."""
    with bench.store.reading() as c:
        if not jobs.is_due(c):
            return False
    with bench.store.writing() as c:
        job = jobs.claim(c, name)
    if job is None:
        return False
    try:
        _do(bench, job)
    except BaseException:
        bench.forget(job.project)  # it may know more than the database
        raise
    _tidy(bench, job.project)
    return True


def _do(bench: Bench, job: Row) -> None:
    try:
        with _signs_of_life(bench.store, job):
            result = JOBS[job.kind](bench, job)
        with bench.store.writing() as c:
            jobs.finish(c, job, result)
    except ServiceUnavailableError:
        raise
    except jobs.JobLostError:
        bench.forget(job.project)
        logger.warning("job %s of kind %s was taken over by another runner", job.id, job.kind)
    except Exception as error:  # a job may fail in any way; it is written down and tried again
        bench.forget(job.project)
        logger.exception("job %s of kind %s failed", job.id, job.kind)
        with bench.store.writing() as c:
            jobs.fail(c, job, f"{type(error).__name__}: {error}"[:1000])


def _tidy(bench: Bench, project: str) -> None:
    """The mirror of a project that is finished or deleted leaves the memory."""
    with bench.store.reading() as c:
        try:
            row = projects.find(c, project)
        except RequestError:
            bench.forget(project)
            return
        ended = row.done or row.state == projects.CLOSED
        if ended and not jobs.is_pending(c, project):
            bench.forget(project)


def _full_name(name: str) -> str:
    """The same for who takes the place of a runner that has died, and for nobody else anywhere."""
    return f"{name}@{socket.gethostname()[:32]}:{os.getppid()}"[:64]


def _look_after(store: Store, name: str) -> None:
    """Jobs of runners that have died wait again; what was lent and not answered goes to others."""
    now = time.time()
    with store.writing() as c:
        jobs.requeue_abandoned(c, name)
    with store.reading() as c:
        late = leases.projects_with_expired(c, now)
    for project in late:
        with store.writing() as c:
            if leases.expire(c, project, now):
                jobs.enqueue(c, project, "completion")


@contextmanager
def _signs_of_life(store: Store, job: Row) -> Iterator[None]:
    """Say again and again that a job is being done."""
    over = threading.Event()

    def say() -> None:
        while not over.wait(ALIVE):
            try:
                with store.writing() as c:
                    jobs.renew(c, job)
            except (ServiceUnavailableError, jobs.JobLostError):
                logger.warning("job %s cannot say that it is alive", job.id)

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
