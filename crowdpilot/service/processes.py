"""The processes of `crowdpilot serve`: a parent that supervises, web processes and job processes.

The parent holds the listening socket, so that callers wait in its backlog while a web process is restarted.
Each child holds one end of a pipe: once the parent closes the other, or dies, the child stops.
"""

from __future__ import annotations

import errno
import http.client
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pkgutil import resolve_name
from typing import Any

from crowdpilot.service import logs
from crowdpilot.service.http.web_server import serve_requests
from crowdpilot.service.settings import Settings

SPAWN = multiprocessing.get_context("spawn")
MAX_EARLY_EXITS = 5  # in a row, after which the service gives up
EARLY_EXIT_SECONDS = 10.0  # a process that ends sooner has exited early
RESTART_DELAY_SECONDS = 0.05  # after the first early exit is twice this; it doubles with each one
# Linear algebra in one thread of each process: several would take the cores from the requests of other
# projects, and wait for each other on a busy machine, where small products then take a hundred times as long.
BLAS_THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
JOB_NICENESS = 5
SWITCH_SECONDS = 0.001  # between two looks whether another thread wants to run; requests wait for long work
STOP_SECONDS = 8.0  # for requests and jobs under way when a process is asked to stop
STOP_MARGIN_SECONDS = 3.0  # of these, kept for what follows the last request
SOCKET_BACKLOG = 2048  # callers who may wait while no process answers
HEALTH_CHECK_SECONDS = 0.05  # between two checks until the service answers
HEALTH_TIMEOUT_SECONDS = 5.0
MEMORY_FOLDER = "/dev/shm"  # for what processes share, if there is one
LOOPBACK_OF_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to reach a service that listens everywhere

logger = logging.getLogger(__name__)


def supervise(
    settings: Any,
    *,
    host: str,
    port: int,
    web: int = 1,
    jobs: int = 1,
    ready: Callable[[str], None] | None = None,
    app: str = "crowdpilot.service.app:create_app",
    runner: str = "crowdpilot.service.jobs.runner:run",
) -> None:
    """Run the service until SIGTERM or SIGINT; only for the main thread.

    Parameters
    ----------
    settings
        Passed to every process; anything that pickles.
    host, port
        Where to listen; port 0 takes any that is free.
    web, jobs
        How many processes answer requests, and how many run jobs.
    ready
        Called once, in a thread of its own, with the address under which `/healthz` answers.
    app, runner
        Names as `module:function`. `app(settings)` makes the application, and
        `runner(settings, name, stop)` runs jobs until the `threading.Event` is set.
    """
    for name in BLAS_THREADS:
        os.environ.setdefault(name, "1")
    children: list[_Child] = []
    log_options = getattr(settings, "log_format", logs.TEXT), getattr(settings, "access_log", False)
    with (
        listen(host, port) as listener,
        _shared_folder() as shared,
        _signal_pipe() as signals,
        _announced(listener, ready),
    ):
        logs.configure(log_options[0])
        if isinstance(settings, Settings):
            settings = replace(settings, shared=shared)
        try:
            served = app, settings, listener, shared, STOP_SECONDS - STOP_MARGIN_SECONDS
            for n in range(web):
                name = f"web-{n + 1}"
                children.append(_Child(name, log_options, serve_requests, *served))
            for n in range(jobs):
                name = f"jobs-{n + 1}"
                children.append(_Child(name, log_options, _run_jobs, runner, settings, name))
            _restart_until_signal(children, signals)
        finally:
            _stop(children)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket."""
    if not 0 <= port <= 65535:
        raise ValueError(f"there is no port {port}; choose one up to 65535, or 0 for any that is free")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=SOCKET_BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = f"port {port} of {host} is in use; stop what listens there or choose another port"
        else:
            why = f"cannot listen at {host}, port {port} ({error.strerror}); choose another address or port"
        raise ValueError(why) from None


class _Child:
    """A child process that is restarted when it ends."""

    def __init__(
        self, name: str, log_options: tuple[str, bool], body: Callable[..., None], *args: Any
    ) -> None:
        self.name, self.log_options, self.body, self.args = name, log_options, body, args
        self.early_exits = 0  # in a row
        self.start()

    def start(self) -> None:
        """Start the process, after a delay that doubles with each early exit."""
        delay = RESTART_DELAY_SECONDS * 2**self.early_exits if self.early_exits else 0.0
        their_end, self.pipe = SPAWN.Pipe(duplex=False)
        args = their_end, delay, self.log_options, self.body, self.args
        self.process = SPAWN.Process(target=_run_child, args=args, name=self.name)
        self.started = time.monotonic()
        with their_end, _sigint_blocked():
            self.process.start()

    def restart(self) -> None:
        """Start the process again; a `ChildProcessError` after too many early exits in a row."""
        self.process.join()
        self.pipe.close()
        code = self.process.exitcode
        killed = code == -signal.SIGKILL  # from outside, which says nothing about the next process
        early = time.monotonic() - self.started < EARLY_EXIT_SECONDS
        self.early_exits = self.early_exits + 1 if early and not killed else 0
        if self.early_exits == MAX_EARLY_EXITS:
            raise ChildProcessError(
                f"{self.name} ended {MAX_EARLY_EXITS} times in a row soon after its start "
                f"(last with code {code}); mend what the errors above say and start the service again"
            )
        logger.warning("%s ended with code %s and is started again", self.name, code)
        self.start()


def _restart_until_signal(children: list[_Child], signals: Connection) -> None:
    """Restart each child that ends, until a signal arrives."""
    while True:
        ended = wait([signals, *(child.process.sentinel for child in children)])
        if signals in ended:
            return
        for child in children:
            if child.process.sentinel in ended:
                child.restart()


def _stop(children: list[_Child]) -> None:
    """Ask all children to stop, and kill those that have not in time."""
    for child in children:
        child.pipe.close()
    deadline = time.monotonic() + STOP_SECONDS + 1
    for child in children:
        child.process.join(max(0.0, deadline - time.monotonic()))
        child.process.kill()
        child.process.join()


@contextmanager
def _signal_pipe() -> Iterator[Connection]:
    """A pipe into which SIGTERM and SIGINT write: a handler may safely do little else."""
    reader, writer = SPAWN.Pipe(duplex=False)
    numbers = signal.SIGTERM, signal.SIGINT
    before = [signal.signal(number, lambda *_: writer.send_bytes(b"!")) for number in numbers]
    with reader, writer:
        try:
            yield reader
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Start a process that Ctrl-C never reaches: the parent decides when it stops."""
    resource_tracker.ensure_running()  # its start would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _announced(listener: socket.socket, ready: Callable[[str], None] | None) -> Iterator[None]:
    """Meanwhile, call `ready` with the address as soon as the service answers there."""
    host, port = listener.getsockname()[:2]
    host = LOOPBACK_OF_ANY.get(host, host)
    over = threading.Event()

    def announce() -> None:
        while ready and not over.wait(HEALTH_CHECK_SECONDS):
            if _is_healthy(host, port):
                over.set()
                ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")

    threading.Thread(target=announce, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _is_healthy(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=HEALTH_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _run_child(
    pipe: Connection,
    delay: float,
    log_options: tuple[str, bool],
    body: Callable[..., None],
    args: tuple[Any, ...],
) -> None:
    """The main function of every child: its body, until it is asked to stop."""
    logs.configure(log_options[0], access=log_options[1])
    sys.setswitchinterval(SWITCH_SECONDS)
    stop = threading.Event()
    with _signal_pipe() as signals:
        threading.Thread(target=_stop_on_request, args=(pipe, signals, stop), daemon=True).start()
        if not stop.wait(delay):
            body(*args, stop)


def _stop_on_request(pipe: Connection, signals: Connection, stop: threading.Event) -> None:
    """Stop when the parent closes the pipe or a signal arrives, in bounded time."""
    wait([pipe, signals])
    stop.set()
    time.sleep(STOP_SECONDS)
    os._exit(1)


def _run_jobs(runner: str, settings: Any, name: str, stop: threading.Event) -> None:
    """The body of a job process, which leaves the processors to those who wait for an answer."""
    os.nice(JOB_NICENESS)
    resolve_name(runner)(settings, name, stop)


@contextmanager
def _shared_folder() -> Iterator[str]:
    """A folder for what web processes count together, which ends with the service."""
    parent = MEMORY_FOLDER if os.access(MEMORY_FOLDER, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="crowdpilot-", dir=parent) as folder:
        yield folder
