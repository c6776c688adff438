"""One measurement of scale in a process of its own: `python -m benchmarks.scale_runs JOB`.

The job is a JSON object: `what` (a function here), `votes` (a folder with `task.npy`, `worker.npy` and
`label.npy`) and the function's own options. What was measured is printed as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from crowdpilot.aggregation import DawidSkene, NotConverged
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

Measured = dict[str, Any]


def load(folder: Path, classes: int) -> Votes:
    """Votes of numbered tasks and workers."""
    task, worker, label = (np.load(folder / f"{name}.npy") for name in ("task", "worker", "label"))
    return Votes(
        task, worker, label, np.arange(task.max() + 1), np.arange(worker.max() + 1), np.arange(classes)
    )


def dawid_skene(folder: Path, classes: int, rounds: int) -> Measured:
    """Dawid-Skene with a fixed number of iterations, without acceleration, from columns to labels."""
    DawidSkene(max_iter=2).fit(small(classes))  # what is compiled is loaded
    before = memory("VmRSS")
    forget_peak()
    start = perf_counter()
    votes = load(folder, classes)
    read = perf_counter()
    stamps = [read]
    model = DawidSkene(max_iter=rounds, tol=-np.inf, accelerate=False)
    merged = votes.merged
    loaded = IN_MEMORY.load(model, merged, model.initial_posterior(merged))
    ready = perf_counter()
    pseudo_counts = model.pseudo_counts(merged)
    best = model.best_restart(loaded, pseudo_counts, lambda _: stamps.append(perf_counter()))
    result = model.to_result(merged, best.params, loaded.posterior(model, best.params))
    labels = result.codes
    done = perf_counter()
    numbers = best.params.confusion.size
    return {
        "votes": len(votes),
        "tasks": len(labels),
        "workers": len(votes.workers),
        "load_seconds": read - start,
        "prepare_seconds": ready - read,
        "round_seconds": float(np.median(np.diff(stamps[1:]))),
        "fit_seconds": done - read,
        "peak_mb": memory("VmHWM") - before,
        "parameter_mb": numbers * 8 / 2**20,
    }


def objective(folder: Path, classes: int, reached: float, rounds: int, accelerate: bool) -> Measured:
    """Seconds until the log-likelihood is as high as `reached`, with nearly no pseudo-counts."""
    DawidSkene(max_iter=2).fit(small(classes))
    votes = load(folder, classes)
    weak_prior = {"smoothing": 1e-6, "diagonal": 0.0, "class_smoothing": 1e-6}
    model = DawidSkene(max_iter=rounds, tol=-np.inf, accelerate=accelerate, **weak_prior)
    start = perf_counter()
    merged = votes.merged
    loaded = IN_MEMORY.load(model, merged, model.initial_posterior(merged))
    trace: list[tuple[float, float]] = []
    model.best_restart(
        loaded,
        model.pseudo_counts(merged),
        lambda objective: trace.append((perf_counter() - start, objective)),
    )
    when = [(n + 1, seconds) for n, (seconds, objective) in enumerate(trace) if objective >= reached]
    first, seconds = when[0] if when else (None, None)
    return {"rounds_seen": first, "seconds": seconds, "height": trace[-1][1], "reached": reached}


def likelihood(folder: Path, classes: int, params: Path) -> Measured:
    """The log-likelihood of the votes under the confusion matrices of a file."""
    votes = load(folder, classes)
    with np.load(params) as file:
        prior, confusion = file["prior"], file["confusion"]
    tiny = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(confusion, tiny)).reshape(len(votes.workers) * classes, classes)
    joint: Floats = votes.merged.onehot @ logs + np.log(prior)
    top = joint.max(axis=1)
    return {"loglik": float((top + np.log(np.exp(joint - top[:, None]).sum(axis=1))).sum())}


def small(classes: int) -> Votes:
    """Just enough votes for compiled iterations."""
    count = 600_000
    codes = np.arange(count, dtype=np.int32)
    return Votes(
        codes // 5, codes % 5, codes % classes, np.arange(count // 5), np.arange(5), np.arange(classes)
    )


def memory(what: str) -> float:
    """A line of Linux's account of this process, in MB: `VmRSS` is now, `VmHWM` the most."""
    status = Path("/proc/self/status").read_text()
    return float(next(line for line in status.splitlines() if line.startswith(what)).split()[1]) / 1024


def forget_peak() -> None:
    """Reset the peak of memory that Linux reports."""
    Path("/proc/self/clear_refs").write_text("5")


def main(job: dict[str, Any]) -> None:
    """Do one job and print what was measured."""
    warnings.simplefilter("ignore", NotConverged)
    if cores := job.pop("cores", None):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    what = {f.__name__: f for f in (dawid_skene, objective, likelihood)}[job.pop("what")]
    print(json.dumps(what(Path(job.pop("votes")), **job)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
