"""The service with exactly the environment and the command that compose.yaml gives it, over PostgreSQL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.equip import postgres_binaries
from tests.packaging.containers import compose, healthcheck
from tests.packaging.test_containers import FILLED
from tests.service.harness.postgres import Postgres
from tests.service.harness.waiting import eventually, free_port, need

pytestmark = pytest.mark.slow
PROGRAM = Path(os.environ.get("CROWDPILOT_PROGRAM", Path(sys.executable).with_name("crowdpilot")))


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    """As the image makes it: a user and a database of one name, and a password at the door."""
    need(postgres_binaries(), "postgresql")
    environment = compose(FILLED)["services"]["db"]["environment"]
    server = Postgres.make()
    quoted = environment["POSTGRES_PASSWORD"].replace("'", "''")
    server.execute(f"CREATE ROLE {environment['POSTGRES_USER']} LOGIN PASSWORD '{quoted}'")
    server.execute(f"CREATE DATABASE {environment['POSTGRES_DB']} OWNER {environment['POSTGRES_USER']}")
    rules = server.data / "pg_hba.conf"
    rules.write_text(f"host all {environment['POSTGRES_USER']} all scram-sha-256\n{rules.read_text()}")
    server.execute("SELECT pg_reload_conf()")
    yield server
    server.remove()


@pytest.fixture
def environ(database: Postgres, tmp_path: Path) -> dict[str, str]:
    """Nothing but what compose gives, with this machine in the place of `db`."""
    environment: dict[str, str] = compose(FILLED)["services"]["web"]["environment"]
    url = environment["CROWDPILOT_DATABASE"]
    assert "@db/" in url
    here = {"CROWDPILOT_DATABASE": url.replace("@db/", f"@127.0.0.1:{database.port}/")}
    return {"PATH": str(PROGRAM.parent), "MPLCONFIGDIR": str(tmp_path / "matplotlib"), **environment, **here}


@contextmanager
def running(environ: dict[str, str], folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    command = [PROGRAM, *compose(FILLED)["services"]["web"]["command"], "--port", str(port)]
    process = subprocess.Popen(command, env=environ, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


def is_well(port: int, environ: dict[str, str]) -> bool:
    command = [word.replace(":8000/", f":{port}/") for word in healthcheck()]
    return subprocess.run(command, env=environ, capture_output=True, timeout=30).returncode == 0


def test_it_starts_answers_and_stops(environ: dict[str, str], tmp_path: Path) -> None:
    made = subprocess.run(
        [PROGRAM, "keys", "create", "ann", "--scope", "admin"], env=environ, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    port = free_port()
    assert not is_well(port, environ)
    with running(environ, tmp_path, port) as process:
        eventually(lambda: is_well(port, environ) or process.poll() is not None, 60)
        for path in ("/readyz", "/api/projects"):
            asked = Request(f"http://127.0.0.1:{port}{path}", headers={"X-API-Key": made.stdout.strip()})
            with urlopen(asked, timeout=20) as answer:
                assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    assert list(tmp_path.iterdir()) == [], "the root of the container is read-only"


def test_a_wrong_password_is_refused(environ: dict[str, str]) -> None:
    wrong = {**environ, "PGPASSWORD": "wrong"}
    made = subprocess.run([PROGRAM, "keys", "list"], env=wrong, capture_output=True, text=True)
    assert made.returncode != 0
    assert "password authentication failed" in made.stderr
