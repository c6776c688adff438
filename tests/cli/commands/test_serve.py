from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.requesters import keys
from tests.cli.terminal import Terminal

Run = Callable[..., Result]
READY = re.compile(r"listening at (http://127\.0\.0\.1:\d+)")


def test_one_command_starts_it(tmp_path: Path) -> None:
    """With nothing configured: an SQLite file, a secret that nobody else reads, and a page to open.

    No link that signs in is written where standard error is a file, which others may read.
    """
    command = [sys.executable, "-m", "crowdpilot", "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines = [process.stderr.readline(), process.stderr.readline()]
        found = READY.search(lines[0])
        assert found is not None
        address = found[1]
        assert urllib.request.urlopen(f"{address}/readyz").status == 200
        assert b"openapi" in urllib.request.urlopen(f"{address}/api/openapi.json").read()
    finally:
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[1]
    assert (process.returncode, rest) == (0, "")
    assert "token" not in "".join(lines)
    assert "crowdpilot keys link" in lines[1]
    for name in ("crowdpilot.db", "crowdpilot.secret"):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600


def test_at_a_terminal_it_prints_a_link_that_signs_in(tmp_path: Path) -> None:
    with Terminal("serve", "--port", "0", "--database", str(tmp_path / "a.db"), COLUMNS="300") as terminal:
        terminal.wait_for("within an hour")
        assert re.search(r"open http://127\.0\.0\.1:\d+/login\?token=\S+ within", terminal.text)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_database_that_others_can_read_is_refused(cli: Run, tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.db"
    file.touch()
    file.chmod(mode)
    result = cli("serve", "--database", str(file))
    assert (result.exit_code, f"chmod 600 {file}" in result.stderr) == (2, True)


def test_the_log_format_is_checked(cli: Run, tmp_path: Path) -> None:
    result = cli("serve", "--database", str(tmp_path / "a.db"), "--log-format", "xml")
    assert (result.exit_code, "choose text or json" in result.stderr) == (2, True)


def test_a_proxy_is_named_by_its_address(cli: Run, tmp_path: Path) -> None:
    result = cli("serve", "--database", str(tmp_path / "a.db"), "--proxy", "nginx.example.org")
    assert (result.exit_code, "10.20.0.0/16" in result.stderr) == (2, True)


def test_a_public_address_is_refused_without_a_key(cli: Run, tmp_path: Path) -> None:
    database = str(tmp_path / "a.db")
    result = cli("serve", "--host", "0.0.0.0", "--port", "0", "--database", database)
    assert result.exit_code == 2
    assert "needs a key" in result.stderr


def test_the_key_of_printed_links_does_not_open_a_public_address(cli: Run, tmp_path: Path) -> None:
    (tmp_path / "a.db").touch(0o600)
    store = Store(f"sqlite:///{tmp_path / 'a.db'}")
    migrate(store)
    with store.writing() as c:
        keys.local_key_id(c)
        assert not keys.any_valid(c)
    store.close()
    result = cli("serve", "--host", "0.0.0.0", "--port", "0", "--database", str(tmp_path / "a.db"))
    assert result.exit_code == 2


def test_a_folder_that_is_not_there_is_named(cli: Run, tmp_path: Path) -> None:
    result = cli("serve", "--database", str(tmp_path / "no" / "a.db"))
    assert result.exit_code == 2
    assert "no folder" in result.stderr
