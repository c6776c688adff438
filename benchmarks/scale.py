"""How time and memory grow with the votes: `python -m benchmarks.scale`.

Each part of `--parts` is measured alone and kept in `scale.json`; the page and the picture are made of all
that is there. The figures of a GPU are those of `scale_gpu.json`, made by `benchmarks.scale_gpu`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks import peers
from benchmarks.process import launch
from benchmarks.scale_more import cluster, large_k, online
from benchmarks.scale_picture import draw
from benchmarks.scale_tables import render
from benchmarks.simulated_votes import simulate_votes
from benchmarks.tables import RESULTS, machine, save_json

CLASSES = 10
VOTES_PER_WORKER = 1000
ITERATIONS = 20
PEER_RUNNER = Path(__file__).parent / "scale_peer.py"

Measured = dict[str, Any]


def main(
    parts: Annotated[str, typer.Option(help="What to measure.")] = "growth,peer,objective,online,large_k",
    largest: Annotated[float, typer.Option(help="Power of ten of the most votes.")] = 7.5,
    peer_largest: Annotated[float, typer.Option(help="The same for crowd-kit.")] = 6.0,
    compared: Annotated[int, typer.Option(help="Votes at which both are compared.")] = 5_000_000,
    cluster_votes: Annotated[int, typer.Option(help="Votes for the cluster.")] = 100_000_000,
    output: Annotated[Path, typer.Option(help="Folder for scale.md, scale.json and scale.png.")] = RESULTS,
) -> None:
    """Measure, one at a time, and write what is known."""
    path = output / "scale.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    record["machine"] = machine()
    sizes = [round(10**power) for power in np.arange(4, largest + 0.01, 0.5)]
    measures: dict[str, Callable[[], Any]] = {
        "growth": lambda: grow(sizes),
        "peer": lambda: compare([s for s in sizes if s <= 10**peer_largest] + [compared]),
        "objective": lambda: time_to_likelihood(compared),
        "online": online,
        "large_k": large_k,
        "cluster": lambda: cluster(cluster_votes),
    }
    for part in filter(None, parts.split(",")):
        typer.echo(part, err=True)
        record[part] = measures[part]()
        save_json(path, record)
    gpu = output / "scale_gpu.json"
    record["gpu"] = json.loads(gpu.read_text()) if gpu.exists() else None
    (output / "scale.md").write_text(render(record), encoding="utf-8")
    draw(record, output / "scale.png")


def grow(sizes: list[int]) -> list[Measured]:
    """Dawid-Skene on more and more votes, on one core and on all."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_columns(Path(folder), size)
            for cores in sorted({1, len(os.sched_getaffinity(0))}):
                job = {"what": "dawid_skene", "classes": CLASSES, "rounds": ITERATIONS, "cores": cores}
                rows.append({"cores": cores, **run_own(folder, job)})
                typer.echo(json.dumps(rows[-1]), err=True)
    return rows


def compare(sizes: list[int]) -> list[Measured]:
    """Crowd-kit on the same votes; a round is what more rounds take longer, divided by their number."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write_columns(Path(folder), size)
            few, many = 2, 12
            job = {"rounds": [few, many], "classes": CLASSES}
            took = run_peer(folder, job)["seconds"]
            ours = run_own(folder, {"what": "dawid_skene", "classes": CLASSES, "rounds": many})
        peer = {"round_seconds": (took[1] - took[0]) / (many - few), "fit_seconds": took[1]}
        rows.append({"votes": size, "peer": peer, "ours": ours})
        typer.echo(json.dumps(rows[-1]), err=True)
    return rows


def time_to_likelihood(size: int) -> Measured:
    """Seconds until the likelihood is as high as that of crowd-kit, with and without acceleration."""
    with tempfile.TemporaryDirectory() as folder:
        write_columns(Path(folder), size, low=0.2, high=0.7)
        params = str(Path(folder) / "params.npz")
        took = run_peer(folder, {"rounds": [50], "classes": CLASSES, "params": params})
        likelihood_job = {"what": "likelihood", "classes": CLASSES, "params": params}
        log_likelihood = run_own(folder, likelihood_job)["loglik"]
        job = {"what": "objective", "classes": CLASSES, "reached": log_likelihood, "rounds": 80}
        accelerated, plain = (run_own(folder, job | {"accelerate": on}) for on in (True, False))
    peer = {"rounds": took["rounds"][0], "seconds": took["seconds"][0], "height": log_likelihood}
    return {"votes": size, "peer": peer, "leaping": accelerated, "plain": plain}


def write_columns(folder: Path, votes: int, low: float = 0.5, high: float = 0.95) -> None:
    """Five votes for each task in the order they might arrive."""
    simulated = simulate_votes(
        votes, votes // 5, max(5, votes // VOTES_PER_WORKER), CLASSES, low=low, high=high
    )
    for name in ("task", "worker", "label"):
        np.save(folder / f"{name}.npy", getattr(simulated, name))


def run_own(folder: str, job: Measured) -> Measured:
    """One measurement of ours."""
    return _run([sys.executable, "-m", "benchmarks.scale_runs"], {"votes": folder, **job})


def run_peer(folder: str, job: Measured) -> Measured:
    """One measurement of crowd-kit."""
    return _run([str(peers.python()), str(PEER_RUNNER)], {"votes": folder, **job})


def _run(command: list[str], job: Measured) -> Measured:
    done = subprocess.run([*command, json.dumps(job)], cwd=peers.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{job} failed: {done.stderr.strip().splitlines()[-1]}")
    measured: Measured = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


if __name__ == "__main__":
    launch(main)
