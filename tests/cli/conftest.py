"""The command line, in this process and in another, and a small file of votes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import crowdpilot
from crowdpilot.cli import app

VOTES = """\
task,worker,label
owl,ann,bird
owl,bob,bird
owl,cem,fish
eel,ann,fish
eel,bob,fish
eel,cem,bird
emu,ann,bird
emu,bob,bird
emu,cem,bird
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, which has votes.csv and bad.csv."""
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "bad.csv").write_text(VOTES + "cod,ann\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli() -> Callable[..., Result]:
    """Run a command here; the result has `stdout`, `stderr` and `exit_code`."""

    def run(*args: str, **options: Any) -> Result:
        return CliRunner().invoke(app, args, prog_name="crowdpilot", catch_exceptions=False, **options)

    return run


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start a command in a process of its own."""

    def start(*args: str, **env: str) -> subprocess.Popen[str]:
        home = str(Path(crowdpilot.__file__).parents[1])  # the package need not be installed
        return subprocess.Popen(
            [sys.executable, "-m", "crowdpilot", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": home, **env},
        )

    return start
