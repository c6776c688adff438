"""Votes one by one, ten thousand classes, and a cluster of two processes: parts of `benchmarks.scale`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from pyarrow import parquet

from benchmarks import peers

Measured = dict[str, Any]

VOTES_ADDED_SINGLY = {
    "majority_voting": 1_000_000,
    "one_coin": 1_000_000,
    "dawid_skene": 1_000_000,
    "glad": 100_000,
}
MANY_CLASSES = ("majority_voting", "naive_soft", "wawa", "one_coin", "common_mistakes", "dawid_skene", "auto")
VOTES_PER_WORKER = 5000  # of the cluster's crowd
N_SHARDS = 64


def online() -> list[Measured]:
    """A million votes one by one, and in batches, against the answer to all at once."""
    return [_alone("follow", model=model, alone=alone) for model, alone in VOTES_ADDED_SINGLY.items()]


def large_k() -> list[Measured]:
    """Ten thousand classes, a million votes."""
    return [_alone("many_classes", model=model) for model in MANY_CLASSES]


def _alone(what: str, **options: Any) -> Measured:
    """One measurement in a process of its own."""
    job = json.dumps({"what": what, **options})
    command = [sys.executable, "-m", "benchmarks.scale_more", job]
    done = subprocess.run(command, cwd=peers.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{job} failed: {done.stderr.strip().splitlines()[-1]}")
    print(done.stdout.strip(), file=sys.stderr)
    measured: Measured = json.loads(done.stdout.strip().splitlines()[-1])
    return measured


def follow(model: str, votes: int = 1_000_000, alone: int = 1_000_000, batch: int = 1000) -> Measured:
    """Votes a second, and the largest difference between a refit and a fit."""
    from crowdpilot.aggregation import MODELS
    from crowdpilot.aggregation.online.stream import Stream
    from crowdpilot.simulation import one_coin

    rng = np.random.default_rng(0)
    skill = rng.uniform(0.5, 0.95, 1000).tolist()
    simulated, truth = one_coin(votes // 5, skill, classes=4, votes_per_task=5, seed=0)
    order = rng.permutation(len(simulated))
    columns = [column[order].tolist() for column in (simulated.task, simulated.worker, simulated.label)]
    singly, stream = Stream(MODELS[model](), range(4)), Stream(MODELS[model](), range(4))
    start = time.perf_counter()
    for vote in zip(*(column[:alone] for column in columns), strict=True):
        singly.add(*vote)
    one_by_one = time.perf_counter() - start
    start = time.perf_counter()
    for n in range(0, votes, batch):
        stream.add_many(*(column[n : n + batch] for column in columns))
    batched = time.perf_counter() - start
    before = stream.result()
    known = truth[before.votes.tasks.astype(int)]
    refit, fit = stream.refit(), MODELS[model]().fit(stream.votes())
    return {
        "model": model,
        "votes": votes,
        "singly_per_second": alone / one_by_one,
        "batched_per_second": votes / batched,
        "refit_gap": float(np.abs(refit.probs - fit.probs).max()),
        "accuracy_before_refit": float((before.codes == known).mean()),
        "accuracy": float((fit.codes == known).mean()),
    }


def many_classes(model: str, votes: int = 1_000_000, classes: int = 10_000) -> Measured:
    """Seconds and memory of one fit, and how often it is right."""
    import warnings

    from benchmarks.scale_runs import forget_peak, memory
    from crowdpilot.aggregation import MODELS
    from crowdpilot.votes import Votes

    rng = np.random.default_rng(0)
    tasks, workers = votes // 5, 2000
    truth = rng.integers(classes, size=tasks)
    task = np.repeat(np.arange(tasks), 5)
    worker = (rng.integers(workers, size=tasks)[:, None] + np.arange(5) * 397).ravel() % workers
    confused = (truth[task] + rng.integers(1, 4, votes)) % classes  # with one of three others
    right = rng.random(votes) < rng.uniform(0.4, 0.9, workers)[worker]
    crowd_votes = Votes(
        task, worker, np.where(right, truth[task], confused),
        np.arange(tasks), np.arange(workers), np.arange(classes),
    )  # fmt: skip
    before = memory("VmRSS")
    forget_peak()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = MODELS[model]().fit(crowd_votes)
        codes = result.codes
    return {
        "model": model,
        "used": str(result.model),
        "seconds": time.perf_counter() - start,
        "peak_mb": memory("VmHWM"),
        "more_mb": memory("VmHWM") - before,
        "accuracy": float((codes == truth).mean()),
        "told": [str(warning.message) for warning in caught],
    }


def cluster(most: int) -> list[Measured]:
    """More and more votes in files, up to so many."""
    return [_spread(votes) for votes in (most // 100, most // 10, most)]


def _spread(votes: int) -> Measured:
    """Simulate so many votes into files, and aggregate them in two processes by the command line."""
    with tempfile.TemporaryDirectory() as folder:
        shards = Path(folder) / "votes"
        crowd = ["-s", "independent-confusion", "--n-task", str(votes // 5), "--feedback", "5", "-K", "10"]
        crowd += [
            "--n-worker",
            str(max(50, votes // VOTES_PER_WORKER)),
            "--concentration",
            "0.1",
            "--seed",
            "0",
        ]
        spread = ["--shards", str(N_SHARDS), "--local-cluster", "2"]
        simulated = _watch(["simulate", *crowd, "-o", str(shards), *spread])
        fit = ["aggregate", f"{shards}/*.parquet", "-s", "dawid_skene[accelerate=False]", "--max-iter", "10"]
        done = _watch([*fit, "--local-cluster", "2"])
        labels = sorted((shards / "_labels").glob("*.parquet"))
        rows = sum(parquet.read_metadata(file).num_rows for file in labels)
        size = sum(file.stat().st_size for file in shards.glob("*.parquet"))
        return {"votes": votes, "bytes": size, "labels": rows, "simulate": simulated, "aggregate": done}


def _watch(command: list[str]) -> Measured:
    """Run a command; seconds, and the most memory that all its processes held together."""
    start, most = time.perf_counter(), 0
    running = subprocess.Popen(
        [sys.executable, "-m", "crowdpilot", *command], stderr=subprocess.PIPE, text=True
    )
    while running.poll() is None:
        most = max(most, sum(_sizes(running.pid)))
        time.sleep(0.5)
    if running.returncode:
        raise ValueError(f"{' '.join(command)} failed: {running.stderr.read() if running.stderr else ''}")
    return {"seconds": time.perf_counter() - start, "peak_gb": most / 2**30}


def _sizes(pid: int) -> Iterator[int]:
    """The memory of a process and of those below it that is not shared."""
    try:
        parent = psutil.Process(pid)
        family = [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in family:
        try:
            yield process.memory_full_info().uss
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    print(json.dumps({"follow": follow, "many_classes": many_classes}[job.pop("what")](**job)))
