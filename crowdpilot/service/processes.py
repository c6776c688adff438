"""The processes of `crowdpilot serve`: a parent that listens, and children that answer and work.

The parent holds the listening socket, so that callers wait in its queue while a web process is started
again. Each child holds one end of a pipe: once the parent lets go of the other, or dies, the child stops.
"""

from __future__ import annotations

import errno
import http.client
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pkgutil import resolve_name
from typing import Any

import uvicorn

SPAWN = multiprocessing.get_context("spawn")
ATTEMPTS = 5  # short lives in a row after which the service gives up
SHORT = 10.0  # seconds; a process that ends sooner has a short life
PATIENCE = 8.0  # seconds for what is under way when a process is asked to stop
QUEUE = 2048  # callers who may wait while no process answers
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to find what listens everywhere

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
        Given to every process; anything that pickles.
    host, port
        Where to listen; port 0 takes any that is free.
    web, jobs
        How many processes answer requests, and how many do jobs.
    ready
        Called once, in a thread of its own, with the address under which `/healthz` answers.
    app, runner
        Names as `module:function`. `app(settings)` makes the application, and
        `runner(settings, name, stop)` does jobs until the `threading.Event` is set.
    """
    parts: list[_Part] = []
    with listen(host, port) as listener, _bell() as ring, _announced(listener, ready):
        try:
            for n in range(web):
                parts.append(_Part(f"web-{n + 1}", _answer, app, settings, listener))
            for n in range(jobs):
                parts.append(_Part(f"jobs-{n + 1}", _work, runner, settings, f"jobs-{n + 1}"))
            _watch(parts, ring)
        finally:
            _end(parts)


def listen(host: str, port: int) -> socket.socket:
    """A socket at which callers wait from now on."""
    if not 0 <= port <= 65535:
        raise ValueError(f"there is no port {port}; choose one up to 65535, or 0 for any that is free")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=QUEUE)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            why = f"port {port} of {host} is in use; stop what listens there or choose another port"
        else:
            why = f"cannot listen at {host}, port {port} ({error.strerror}); choose another address or port"
        raise ValueError(why) from None


class _Part:
    """A place in the service, filled by one process after the other."""

    def __init__(self, name: str, body: Callable[..., None], *args: Any) -> None:
        self.name, self.body, self.args = name, body, args
        self.failures = 0  # short lives in a row
        self.start()

    def start(self) -> None:
        """Fill the place; a process that failed before waits a moment first."""
        pause = 0.05 * 2**self.failures if self.failures else 0.0
        theirs, self.line = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=_live, args=(theirs, pause, self.body, self.args), name=self.name)
        self.born = time.monotonic()
        with theirs, _undisturbed():
            self.process.start()

    def start_again(self) -> None:
        """Fill the place anew, unless this has been in vain too often."""
        self.process.join()
        self.line.close()
        code = self.process.exitcode
        killed = code == -signal.SIGKILL  # from outside, which says nothing about the next life
        short = time.monotonic() - self.born < SHORT
        self.failures = self.failures + 1 if short and not killed else 0
        if self.failures == ATTEMPTS:
            raise ChildProcessError(
                f"{self.name} ended {ATTEMPTS} times in a row soon after its start (last with code {code}); "
                "mend what the errors above say and start the service again"
            )
        logger.warning("%s ended with code %s and is started again", self.name, code)
        self.start()


def _watch(parts: list[_Part], ring: Connection) -> None:
    """Start again whatever ends, until the bell rings."""
    while True:
        ended = wait([ring, *(part.process.sentinel for part in parts)])
        if ring in ended:
            return
        for part in parts:
            if part.process.sentinel in ended:
                part.start_again()


def _end(parts: list[_Part]) -> None:
    """Ask all processes to stop, and kill those that have not in time."""
    for part in parts:
        part.line.close()
    deadline = time.monotonic() + PATIENCE + 1
    for part in parts:
        part.process.join(max(0.0, deadline - time.monotonic()))
        part.process.kill()
        part.process.join()


@contextmanager
def _bell() -> Iterator[Connection]:
    """A pipe into which SIGTERM and SIGINT write: a handler may safely do little else."""
    ring, bell = SPAWN.Pipe(duplex=False)
    numbers = signal.SIGTERM, signal.SIGINT
    before = [signal.signal(number, lambda *_: bell.send_bytes(b"!")) for number in numbers]
    with ring, bell:
        try:
            yield ring
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a process start which Ctrl-C never reaches: when to stop is for the parent to say."""
    resource_tracker.ensure_running()  # its start would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _announced(listener: socket.socket, ready: Callable[[str], None] | None) -> Iterator[None]:
    """Meanwhile, tell `ready` the address as soon as the service answers there."""
    host, port = listener.getsockname()[:2]
    host = ANYWHERE.get(host, host)
    over = threading.Event()

    def tell() -> None:
        while ready and not over.wait(0.05):
            if _is_healthy(host, port):
                over.set()
                ready(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")

    threading.Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _is_healthy(host: str, port: int) -> bool:
    caller = http.client.HTTPConnection(host, port, timeout=5)
    try:
        caller.request("GET", "/healthz")
        return caller.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        caller.close()


def _live(line: Connection, pause: float, body: Callable[..., None], args: tuple[Any, ...]) -> None:
    """What every child does: its work, until it is asked to stop."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stop = threading.Event()
    with _bell() as ring:
        threading.Thread(target=_heed, args=(line, ring, stop), daemon=True).start()
        if not stop.wait(pause):
            body(*args, stop)


def _heed(line: Connection, ring: Connection, stop: threading.Event) -> None:
    """Stop when the parent lets go of the line or a signal comes, in bounded time."""
    wait([line, ring])
    stop.set()
    time.sleep(PATIENCE)
    os._exit(1)


def _answer(app: str, settings: Any, listener: socket.socket, stop: threading.Event) -> None:
    """Answer requests."""
    server = uvicorn.Server(
        uvicorn.Config(
            resolve_name(app)(settings),
            lifespan="on",  # an application that cannot start is a failure
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=getattr(settings, "proxy", False),
            timeout_graceful_shutdown=int(PATIENCE) - 3,
        )
    )

    def leave() -> None:
        stop.wait()
        server.should_exit = True

    threading.Thread(target=leave, daemon=True).start()
    server.run(sockets=[listener])


def _work(runner: str, settings: Any, name: str, stop: threading.Event) -> None:
    """Do jobs."""
    resolve_name(runner)(settings, name, stop)
