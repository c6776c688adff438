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

from typer.testing import Result

from crowdpilot.service.store import Store, migrate
from crowdpilot.service.store.requesters import keys

Run = Callable[..., Result]
READY = re.compile(r"open (http://127\.0\.0\.1:\d+)(/login\?token=\S+)")


def test_one_command_starts_it_and_prints_a_link(tmp_path: Path) -> None:
    """With nothing configured: an SQLite file, a secret that nobody else reads, and a page to open."""
    command = [sys.executable, "-m", "crowdpilot", "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = next(match for line in process.stderr if (match := READY.search(line)))
        address = found[1]
        assert urllib.request.urlopen(f"{address}/readyz").status == 200
        assert b"openapi" in urllib.request.urlopen(f"{address}/api/openapi.json").read()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        process.stderr.close()
    for name in ("crowdpilot.db", "crowdpilot.secret"):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600


def test_a_public_address_is_refused_without_a_key(cli: Run, tmp_path: Path) -> None:
    database = str(tmp_path / "a.db")
    result = cli("serve", "--host", "0.0.0.0", "--port", "0", "--database", database)
    assert result.exit_code == 2
    assert "needs a key" in result.stderr


def test_the_key_of_printed_links_does_not_open_a_public_address(cli: Run, tmp_path: Path) -> None:
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
