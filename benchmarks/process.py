"""One fit in a process of its own, with limits on its time and memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer

from benchmarks import peers
from crowdpilot.votes import Votes

PEER_RUNNER = Path(__file__).parent / "peer_runner.py"


@dataclass(frozen=True)
class Job:
    """A model of a library with its options."""

    library: str
    model: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> list[str]:
        """What runs it: our interpreter for our own models, that of the peers for theirs."""
        if self.library == "crowdpilot":
            return [sys.executable, "-m", "benchmarks.own_runner"]
        return [str(peers.python()), str(PEER_RUNNER)]


@dataclass(frozen=True)
class Outcome:
    """The labels of one fit and what it cost, or the reason why there are none."""

    labels: dict[str, str] | None = None  # by task
    cost: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None


def save_columns(path: Path, votes: Votes) -> Path:
    """Write the columns that a runner reads: names, numbers as numbers and all else as text."""
    coded = {"task": votes.tasks, "worker": votes.workers, "label": votes.classes}
    plain = {c: names if names.dtype.kind in "iu" else names.astype(str) for c, names in coded.items()}
    np.savez(path, **{c: names[getattr(votes, c)] for c, names in plain.items()})
    return path


def run(job: Job, votes: Path, *, limit: float, memory_gb: float | None = None) -> Outcome:
    """Fit once. More than `limit` seconds or `memory_gb` gigabytes are a failure."""
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels.npz"
        text = json.dumps(vars(job) | {"votes": str(votes), "labels": str(labels)})
        try:
            done = subprocess.run(
                [*job.command, text], cwd=peers.ROOT, capture_output=True, text=True, timeout=limit,
                preexec_fn=None if memory_gb is None else partial(_limit_memory, memory_gb),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(reason=f"more than {limit:g} s")
        if done.returncode:
            return Outcome(reason=_last_line(done.stderr) or f"ended with code {done.returncode}")
        with np.load(labels) as file:
            by_task = dict(zip(file["task"].astype(str), file["label"].astype(str), strict=True))
        return Outcome(by_task, json.loads(_last_line(done.stdout)))


def _limit_memory(gigabytes: float) -> None:
    size = int(gigabytes * 1024**3)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""


def launch(main: Callable[..., None]) -> None:
    """Run a command; wrong input becomes one line and exit code 2."""
    try:
        typer.run(main)
    except ValueError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
