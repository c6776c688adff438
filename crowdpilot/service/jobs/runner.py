"""The runner: a process that takes jobs from the database and does them, one after the other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crowdpilot.service.jobs.bench import Bench
from crowdpilot.service.jobs.refit import refit
from crowdpilot.service.refusals import Unavailable
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import jobs
from crowdpilot.service.store.engine import Store
from crowdpilot.service.store.record import Record

Job = Callable[[Bench, Record], Any]
JOBS: dict[str, Job] = {"refit": refit}
NAP = 0.1  # seconds between looks when there is nothing to do
ALIVE = 3.0  # seconds between signs of life
logger = logging.getLogger(__name__)


def run(settings: Settings, name: str, stop: threading.Event) -> None:
    """Do jobs until told to stop; a job that is under way is finished first."""
    store = Store(settings.database)
    bench = Bench(store, settings)
    first = True
    while not stop.is_set():
        try:
            if first:
                _revive(store, name)
                first = False
            if not step(bench, name):
                _revive(store, "")
                stop.wait(NAP)
        except Unavailable:
            stop.wait(1.0)
    store.close()


def step(bench: Bench, name: str) -> bool:
    """Do one job, if one is due; whether there was one."""
    with bench.store.writing() as c:
        job = jobs.take(c, name)
    if job is None:
        return False
    try:
        with _signs_of_life(bench.store, job.id):
            result = JOBS[job.kind](bench, job)
        with bench.store.writing() as c:
            jobs.finish(c, job.id, result)
    except Unavailable:
        raise
    except Exception as error:  # a job may fail in any way; it is written down and tried again
        logger.exception("job %s of kind %s failed", job.id, job.kind)
        with bench.store.writing() as c:
            jobs.fail(c, job, f"{type(error).__name__}: {error}"[:1000])
    return True


def _revive(store: Store, name: str) -> None:
    with store.writing() as c:
        jobs.revive(c, name)


@contextmanager
def _signs_of_life(store: Store, job: int) -> Iterator[None]:
    """Say again and again that a job is being done."""
    over = threading.Event()

    def say() -> None:
        while not over.wait(ALIVE):
            try:
                with store.writing() as c:
                    jobs.hold(c, job)
            except Unavailable:
                logger.warning("job %s cannot say that it is alive", job)

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
