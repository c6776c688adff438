"""The command line, in this process and in another, and a small file of votes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import crowdpilot
from crowdpilot.cli import app

READING = re.compile(r"crowdpilot: .*; [\d,]+ votes? on [\d,]+ tasks? by .*\n")
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
def crowd_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in with the votes of a simulated crowd, and numbers that tell the classes.

    crowd.csv, truth.csv and truth.npy are about the same 120 tasks as x.npz, which has them in
    another order; test.csv and test.npz are about 60 others.
    """
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kinds = np.array(["bird", "fish", "newt"])
    codes = rng.integers(0, 3, 180)
    x = (np.eye(3)[codes] + rng.normal(0, 0.3, (180, 3))).astype(np.float32)
    names = np.array([f"t{n}" for n in range(120)] + [f"new{n}" for n in range(60)])
    task, worker = np.repeat(np.arange(120), 3), rng.integers(0, 6, (120, 3))
    worker[:, 1] = (worker[:, 0] + 1) % 6
    worker[:, 2] = (worker[:, 0] + 3) % 6
    said = np.where(rng.random(360) < 0.75, codes[task], rng.integers(0, 3, 360))
    rows = [f"{names[t]},w{w},{kinds[k]}" for t, w, k in zip(task, worker.ravel(), said, strict=True)]
    Path("crowd.csv").write_text("\n".join(["task,worker,label", *rows]))
    for file, part in (("truth.csv", slice(0, 120)), ("test.csv", slice(120, 180))):
        known = [f"{name},{kind}" for name, kind in zip(names[part], kinds[codes[part]], strict=True)]
        Path(file).write_text("\n".join(["task,label", *known]))
    np.save("truth.npy", kinds[codes[:120]])
    order = rng.permutation(120)
    np.savez("x.npz", task=names[order], x=x[order])
    np.savez("test.npz", task=names[120:], x=x[120:])
    return tmp_path


@pytest.fixture
def load() -> Callable[[str], dict[str, np.ndarray]]:
    """The arrays of a file, which is closed again."""

    def load(name: str) -> dict[str, np.ndarray]:
        with np.load(name) as file:
            return dict(file)

    return load


@pytest.fixture
def cli() -> Callable[..., Result]:
    """Run a command here; the result has `stdout`, `stderr` and `exit_code`.

    The line that says how votes were read is not in `stderr`, but in `reading`.
    """

    def run(*args: str, **options: Any) -> Result:
        done = CliRunner().invoke(app, args, prog_name="crowdpilot", catch_exceptions=False, **options)
        done.reading = "".join(READING.findall(done.stderr))
        done.stderr_bytes = READING.sub("", done.stderr).encode()
        return done

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
