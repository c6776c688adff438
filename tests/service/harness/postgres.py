"""PostgreSQL servers for tests: one that all tests share, and ones that a test may stop and kill."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psycopg

from tests.equip import postgres_binaries
from tests.service.harness.waiting import free_port, need


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
