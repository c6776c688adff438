"""What tests of the service run against: a database server, an accessibility check, a tiny service."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import pwd
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]  # has no types
from fastapi import FastAPI

from tests.equip import is_strict, postgres_binaries

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def need(found: Path | None, package: str) -> Path:
    """What was found; else the test is skipped, or fails with CI=true."""
    if found:
        return found
    message = f"{package} is not on this machine; `make test` installs it for root, with apt-get"
    return pytest.fail(message) if is_strict() else pytest.skip(message)


def eventually(true: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Wait until something holds, and return it."""
    deadline = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < deadline, f"{true} does not hold after {seconds} seconds"
        time.sleep(0.02)
    return value


# A database server


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server of our own, in a folder that is removed at its end."""

    folder: Path
    port: int

    @classmethod
    def make(cls, *, fsync: bool = False) -> Postgres:
        """A server that runs; without fsync it is faster, and a crash of the machine may lose data."""
        server = cls(Path(tempfile.mkdtemp(prefix="crowdpilot-pg-")), free_port())
        if as_user():
            shutil.chown(server.folder, **as_user())
        server.call("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync")
        with (server.data / "postgresql.conf").open("a") as conf:
            conf.write(f"port = {server.port}\nlisten_addresses = '127.0.0.1'\n")
            conf.write(f"unix_socket_directories = ''\nfsync = {'on' if fsync else 'off'}\n")
        server.start()
        return server

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def call(self, program: str, *words: str) -> str:
        """Run one of PostgreSQL's programs on our data; never as root, which it refuses."""
        command = [str(need(postgres_binaries(), "postgresql") / program), "-D", str(self.data), *words]
        done: subprocess.CompletedProcess[str] = subprocess.run(
            command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **as_user()
        )
        assert done.returncode == 0, f"{program} failed:\n{done.stdout}"
        return done.stdout

    def start(self) -> None:
        self.call("pg_ctl", "start", "-w", "-t", "60", "-l", str(self.folder / "log"))

    def stop(self, mode: str = "fast") -> None:
        self.call("pg_ctl", "stop", "-w", "-t", "60", "-m", mode)

    def kill(self) -> None:
        """End all its processes at once, as a crash would."""
        self.stop("immediate")

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.kill()
        shutil.rmtree(self.folder)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{database}"

    def execute(self, command: str) -> None:
        address = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(command)

    @contextmanager
    def database(self) -> Iterator[str]:
        """Address of a new empty database, which is dropped at the end."""
        name = f"test_{uuid.uuid4().hex}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


def as_user() -> dict[str, Any]:
    """For root: arguments that make a process or a folder somebody else's."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    return {"user": "postgres" if "postgres" in names else "nobody"}


def free_port() -> int:
    """A port on which nobody listens, and that is not given to callers while the server is down."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise OSError("no free port found between 20000 and 32000")


@contextmanager
def shared_postgres(folder: Path) -> Iterator[Postgres]:
    """One server for all processes that share the folder; the last to leave stops it."""
    note = folder / "postgres.json"
    with (folder / "postgres.users").open("w") as users:
        with alone(folder / "postgres.lock"):
            if not note.exists():
                server = Postgres.make()
                note.write_text(json.dumps([str(server.folder), server.port]))
            fcntl.flock(users, fcntl.LOCK_SH)
        where, port = json.loads(note.read_text())
        try:
            yield Postgres(Path(where), port)
        finally:
            with alone(folder / "postgres.lock"):
                if is_last(users):
                    Postgres(Path(where), port).remove()
                    note.unlink()


@contextmanager
def alone(file: Path) -> Iterator[None]:
    with file.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def is_last(users: IO[str]) -> bool:
    """Whether no other process holds the file."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Accessibility


STILL = """() => Promise.race([
  Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null))),
  new Promise((next) => setTimeout(next, 1000)),  // some never end
])"""  # what fades in has its full contrast only then


def axe(page: Any) -> None:
    """Assert that axe finds no serious or critical violation of WCAG 2 A and AA on a page."""
    page.evaluate(STILL)
    page.evaluate(AXE_SCRIPT)
    options = {"runOnly": {"type": "tag", "values": WCAG}, "resultTypes": ["violations"]}
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    bad = [violation for violation in found if violation["impact"] in ("serious", "critical")]
    assert not bad, f"{page.url}\n" + "\n".join(map(describe, bad))


def describe(violation: dict[str, Any]) -> str:
    nodes = [f"  {' '.join(map(str, n['target']))}: {n['html'][:150]}" for n in violation["nodes"]]
    return "\n".join([f"{violation['id']} ({violation['impact']}): {violation['help']}", *nodes])


# A tiny service


def make_app(settings: dict[str, Any]) -> FastAPI:
    """Says its process number; notes that it was closed in good order."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        Path(settings["folder"], "closed").touch()

    app = FastAPI(lifespan=lifespan)
    app.get("/healthz")(lambda: "ok")
    app.get("/pid")(os.getpid)

    @app.get("/slow")
    async def slow() -> int:
        Path(settings["folder"], "asked").touch()
        await asyncio.sleep(1)
        return os.getpid()

    return app


def do_jobs(settings: dict[str, Any], name: str, stop: threading.Event) -> None:
    """Writes down its process number, and then that it ended in good order."""
    note = Path(settings["folder"], name)
    note.write_text(str(os.getpid()))
    stop.wait()
    note.with_suffix(".ended").touch()


def start_service(folder: Path, **options: Any) -> subprocess.Popen[str]:
    """The tiny service in a process of its own, which prints its address when it is ready."""
    given = {
        "host": "127.0.0.1",
        "port": 0,
        "app": f"{__name__}:make_app",
        "runner": f"{__name__}:do_jobs",
        **options,
    }
    code = f"""
from crowdpilot.service.processes import supervise
try:
    supervise({{"folder": {str(folder)!r}}}, ready=lambda address: print(address, flush=True), **{given!r})
except (OSError, ValueError) as error:
    raise SystemExit(f"crowdpilot: {{error}}")
"""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
