"""A classifier and a crowd beside cleanlab: `python -m benchmarks.crowdlab --data DIR`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.metrics import roc_auc_score

from benchmarks import peers, sets
from benchmarks.crowdlab_runner import METHODS
from benchmarks.crowdlab_sets import SETS, AssistedCrowd, read_set, simulate
from benchmarks.crowdlab_tables import render
from benchmarks.process import launch
from benchmarks.tables import RESULTS, machine, write
from crowdpilot.arrays import Floats
from crowdpilot.metrics.confidence_bins import equal_width

BINS = 15
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
PEER = "cleanlab"
REAL = ("cleanlab", "cleanlab, calibrated")
LEAN = ("cleanlab", "cleanlab, labels alone")
QUICK = ("auto", "crowdlab", "crowdlab, 2 passes", "Bayes", "fusion")
SIZES = "50000x1000"

Measured = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """What one process may take."""

    seconds: float
    gigabytes: float | None = None

    def times(self, runs: int) -> Limits:
        """For so many runs, one after the other."""
        return replace(self, seconds=runs * self.seconds)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Label and confidence of each task, (runs, tasks), and what they cost; or why there are none."""

    label: Any = None
    confidence: Any = None
    cost: Measured | None = None
    reason: str | None = None


def decide(method: str, votes: Path, limits: Limits) -> Outcome:
    """Decide on all tasks in a process of its own, with one thread."""
    ours = method in METHODS
    command = [sys.executable if ours else str(peers.python()), "-m"]
    command += ["benchmarks.crowdlab_runner" if ours else "benchmarks.cleanlab_runner"]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "found.npz"
        job = {"method": method, "input": str(votes), "output": str(output), "memory_gb": limits.gigabytes}
        try:
            done = subprocess.run(
                [*command, json.dumps(job)], cwd=peers.ROOT, env=os.environ | ONE_THREAD,
                capture_output=True, text=True, timeout=limits.seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(reason=f"more than {limits.seconds:g} s")
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return Outcome(reason=lines[-1] if lines else f"ended with code {done.returncode}")
        with np.load(output) as file:
            cost = json.loads(done.stdout.strip().splitlines()[-1])
            return Outcome(file["label"], file["confidence"], cost)


def score(crowd: AssistedCrowd, found: Outcome, peer: Outcome | None) -> Measured:
    """Accuracy, ECE and AUROC of the confidence in every run, and what is different from cleanlab."""
    if found.cost is None:
        return {"reason": found.reason}
    known = crowd.truth >= 0
    right = found.label[:, known] == crowd.truth[known]
    runs = list(zip(right, found.confidence[:, known], strict=True))
    measured = found.cost | {
        "accuracy": [float(hits.mean()) for hits, _ in runs],
        "ece": [ece(hits, sure) for hits, sure in runs],
        "auroc": [float(roc_auc_score(hits, sure)) for hits, sure in runs if 0 < hits.mean() < 1],
    }
    if peer is None or peer.cost is None:
        return measured
    more = (right * 1.0 - (peer.label[:, known] == crowd.truth[known])).mean(axis=0)
    error = float(more.std(ddof=1) / len(more) ** 0.5)
    same = float((found.label == peer.label).mean())
    return measured | {"more_accurate": [float(more.mean()), error], "same_labels": same}


def ece(right: Any, confidence: Floats) -> float:
    """`metrics.ece`, of labels that need not be the most probable class."""
    gap = np.bincount(equal_width(confidence, BINS), right - confidence, BINS)
    return float(np.abs(gap).sum() / len(right))


def compare(crowd: AssistedCrowd, methods: list[str], limits: Limits) -> Measured:
    """Every method on one crowd."""
    with tempfile.TemporaryDirectory() as folder:
        path = crowd.save(Path(folder) / "votes.npz")
        found = {method: decide(method, path, limits) for method in methods}
    v = crowd.votes
    sizes = {"tasks": len(v.tasks), "workers": len(v.workers), "classes": len(v.classes), "votes": len(v)}
    scores = {method: score(crowd, outcome, found.get(PEER)) for method, outcome in found.items()}
    return sizes | {"gold": int((crowd.truth >= 0).sum()), "methods": scores}


def measure_sets(folders: list[Path], runs: int, *, with_peer: bool, limits: Limits) -> Measured:
    """Every method on real crowds."""
    methods = [*METHODS, *(REAL if with_peer else ())]
    found: Measured = {}
    for folder in folders:
        typer.echo(folder.name, err=True)
        found[folder.name] = compare(read_set(folder, runs), methods, limits.times(runs))
    return {"runs": runs, "crowds": found}


def measure_large(sizes: list[tuple[int, int]], *, with_peer: bool, limits: Limits) -> Measured:
    """Time and memory on simulated crowds."""
    methods = [*QUICK, *(LEAN if with_peer else ())]
    found: Measured = {}
    for tasks, workers in sizes:
        typer.echo(f"{tasks} tasks, {workers} workers", err=True)
        found[f"{tasks:,} tasks, {workers:,} workers"] = compare(simulate(tasks, workers), methods, limits)
    return {"limits": vars(limits), "crowds": found}


def main(
    data: Annotated[Path | None, typer.Option(help="Folder with the real sets.")] = None,
    parts: Annotated[
        str, typer.Option(help="What to measure anew, with commas: sets, large.")
    ] = "sets,large",
    names: Annotated[str, typer.Option("--sets", help="Real sets, with commas.")] = ",".join(SETS),
    runs: Annotated[int, typer.Option(help="How often to split the tasks into folds.")] = 5,
    sizes: Annotated[str, typer.Option(help="Tasks x workers of simulated crowds, with commas.")] = SIZES,
    with_peer: Annotated[bool, typer.Option("--peers/--no-peers", help="Run cleanlab too.")] = True,
    limit: Annotated[float, typer.Option(help="Seconds that one consensus may take.")] = 300,
    memory: Annotated[float, typer.Option(help="Gigabytes that one process may take.")] = 8,
    output: Annotated[Path, typer.Option(help="Folder for crowdlab.md and crowdlab.json.")] = RESULTS,
) -> None:
    """Label real tasks with the same probabilities of a classifier, then large simulated crowds."""
    wanted = set(filter(None, parts.split(",")))
    if unknown := sorted(wanted - {"sets", "large"}):
        raise ValueError(f"there is no part called {unknown[0]!r}, expected sets or large")
    if "sets" in wanted and data is None:
        raise ValueError("--data must name the folder with the real sets; `--parts large` needs none")
    folders = sets.find(data, names) if data else []
    crowds = [parse(size) for size in sizes.split(",") if size]
    limits = Limits(limit, memory)
    kept = output / "crowdlab.json"
    record: Measured = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    where = {"machine": machine(), "load": round(os.getloadavg()[0], 2)}
    if "sets" in wanted:
        record["sets"] = where | measure_sets(folders, runs, with_peer=with_peer, limits=limits)
        write(output, "crowdlab", render(record), record)
    if "large" in wanted:
        record["large"] = where | measure_large(crowds, with_peer=with_peer, limits=limits)
    write(output, "crowdlab", render(record), record)
    typer.echo(render(record))


def parse(size: str) -> tuple[int, int]:
    """Numbers of tasks and workers from a text such as "50000x1000"."""
    tasks, _, workers = size.partition("x")
    if not (tasks.isdecimal() and workers.isdecimal()):
        raise ValueError(f"a size is {size!r}, expected tasks x workers such as 50000x1000")
    return int(tasks), int(workers)


if __name__ == "__main__":
    launch(main)
