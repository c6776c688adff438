"""Runner: the loop of a job process, which claims jobs, runs them, and expires leases of all projects."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from crowdpilot.service.errors import RequestError, ServiceUnavailableError
from crowdpilot.service.jobs import erasure, label_studio, webhook_sender
from crowdpilot.service.jobs.calibration import measure_calibration
from crowdpilot.service.jobs.completion import check_completion
from crowdpilot.service.jobs.context import JobContext
from crowdpilot.service.jobs.forecast import make_forecast
from crowdpilot.service.jobs.imports.job import run_import
from crowdpilot.service.jobs.imports.requests import JOB_KIND as IMPORT
from crowdpilot.service.jobs.notifications import checks, email_sender
from crowdpilot.service.jobs.refit import run_refit
from crowdpilot.service.jobs.report import make_report
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs, leases, projects
from crowdpilot.service.store.engine import Row, Store

Job = Callable[[JobContext, Row], Any]
JOBS: dict[str, Job] = {
    "refit": run_refit,
    "completion": check_completion,
    "calibration": measure_calibration,
    "forecast": make_forecast,
    "report": make_report,
    IMPORT: run_import,
    checks.JOB_KIND: checks.check_notifications,
    label_studio.JOB_KIND: label_studio.run_sync,
    "deletion": erasure.delete_project,
    "retention": erasure.erase_workers,
    "purge": erasure.purge,
}
MAX_IMPORTS = 2  # that run at the same time in one process, each with all its files in memory
POLL_SECONDS = 0.1  # between two looks for jobs
RETENTION_SECONDS = 600.0  # between two looks for projects whose retention time is over
RENEWAL_SECONDS = 3.0  # between two renewals of a claim, and between two sweeps
PAUSE_AFTER_ERROR_SECONDS = 1.0
logger = logging.getLogger(__name__)


def run(settings: Settings, name: str, stop: threading.Event) -> None:
    """Run jobs until `stop` is set; a job that is running is finished first."""
    store = Store(settings.database)
    context, threads = JobContext(store, settings), _JobThreads(store, settings)
    own = _full_name(name)
    senders = [
        threading.Thread(target=send, args=(store, settings, stop), name=name, daemon=True)
        for send, name in ((webhook_sender.run, "webhook sender"), (email_sender.run, "e-mail sender"))
    ]
    for sender in senders:
        sender.start()
    restarted, swept, looked, checked = True, 0.0, -RETENTION_SECONDS, -checks.EVERY_SECONDS
    synced = -label_studio.EVERY_SECONDS
    while not stop.is_set():
        try:
            if restarted or time.monotonic() - swept >= RENEWAL_SECONDS:
                _sweep(context, own if restarted else "")
                restarted, swept = False, time.monotonic()
            if time.monotonic() - looked >= RETENTION_SECONDS:
                erasure.enqueue_due(store)
                looked = time.monotonic()
            if time.monotonic() - checked >= checks.EVERY_SECONDS:
                checks.enqueue_all(store, settings)
                checked = time.monotonic()
            if time.monotonic() - synced >= label_studio.EVERY_SECONDS:
                label_studio.enqueue_all(store)
                synced = time.monotonic()
            if not step(context, own, threads):
                stop.wait(POLL_SECONDS)
        except ServiceUnavailableError:
            restarted = True  # its own jobs are queued again
            stop.wait(PAUSE_AFTER_ERROR_SECONDS)
    threads.join()
    for sender in senders:
        sender.join()
    store.close()


def step(context: JobContext, name: str, threads: _JobThreads | None = None) -> bool:
    """Run one job, if one is due; whether there was one. With threads, one that waits for others begins."""
    with context.store.reading() as c:
        if not jobs.is_due(c):
            return False
    with context.store.writing() as c:
        job = jobs.claim(c, name)
    if job is None:
        return False
    if threads is not None and job.kind in (IMPORT, label_studio.JOB_KIND):
        threads.start(job)
        return True
    try:
        _run_job(context, job, nullcontext())
    except BaseException:
        context.forget(job.project)  # it may have state that was not committed
        raise
    _drop_if_ended(context, job.project)
    return True


class _JobThreads:
    """Threads of jobs that wait for servers which may be slow or far away, so that no other job has to.

    A few imports run at a time, each with a context of its own, because a replica belongs to one thread;
    synchronisations with Label Studio one after the other.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._turns, self._sync_turn = threading.Semaphore(MAX_IMPORTS), threading.Lock()
        self._sync_context = JobContext(store, settings)
        self._threads: list[threading.Thread] = []

    def start(self, job: Row) -> None:
        """Begin a job that was claimed; its claim is renewed while it waits for its turn."""
        thread = threading.Thread(target=self._run, args=(job,), name=f"{job.kind} {job.id}", daemon=True)
        self._threads = [*(other for other in self._threads if other.is_alive()), thread]
        thread.start()

    def join(self) -> None:
        """Wait for all that have begun."""
        for thread in self._threads:
            thread.join()

    def _run(self, job: Row) -> None:
        try:
            if job.kind == IMPORT:
                _run_job(JobContext(self._store, self._settings), job, self._turns)
            else:
                _run_job(self._sync_context, job, self._sync_turn)
        except ServiceUnavailableError:
            logger.warning("job %s has no database; it is queued again when its claim is over", job.id)


def _run_job(context: JobContext, job: Row, turn: AbstractContextManager[Any]) -> None:
    """Run a job when it is its turn, and write down how it ended."""
    try:
        with _renewed_claim(context, job), turn:
            result = JOBS[job.kind](context, job)
        with context.store.writing() as c:
            jobs.finish(c, job, result)
            label_studio.follow_up(c, job, result)
    except ServiceUnavailableError:
        raise
    except jobs.JobLostError:
        context.forget(job.project)
        logger.warning("job %s of kind %s was taken over by another runner", job.id, job.kind)
    except Exception as error:  # whatever the error, it is recorded and the job is tried again
        context.forget(job.project)
        logger.exception("job %s of kind %s failed", job.id, job.kind)
        with context.store.writing() as c:
            jobs.fail(c, job, f"{type(error).__name__}: {error}"[:1000])


def _drop_if_ended(context: JobContext, project: str) -> None:
    """Drop the replica of a project that is finished or deleted."""
    with context.store.reading() as c:
        try:
            row = projects.find(c, project)
        except RequestError:
            context.forget(project)
            return
        ended = row.done or row.state == projects.CLOSED
        if ended and not jobs.is_pending(c, project):
            context.forget(project)


def _full_name(name: str) -> str:
    """The same for a runner that replaces a dead one under the same parent, and unique otherwise."""
    return f"{name}@{socket.gethostname()[:32]}:{os.getppid()}"[:64]


def _sweep(context: JobContext, name: str) -> None:
    """Advance service time; queue jobs of dead runners again; expire leases, and check for completion."""
    store = context.store
    with store.writing() as c:
        now = context.ticker.advance(c)
        jobs.requeue_abandoned(c, name)
    with store.reading() as c:
        expired = leases.projects_with_expired(c, now)
    for project in expired:
        with store.writing() as c:
            if leases.expire(c, project, now):
                jobs.enqueue(c, project, "completion")


@contextmanager
def _renewed_claim(context: JobContext, job: Row) -> Iterator[None]:
    """Renew the claim on a job while it runs; service time goes on, too."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(RENEWAL_SECONDS):
            try:
                with context.store.writing() as c:
                    context.ticker.advance(c)
                    jobs.renew(c, job)
            except (ServiceUnavailableError, jobs.JobLostError):
                logger.warning("job %s cannot renew its claim", job.id)

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
