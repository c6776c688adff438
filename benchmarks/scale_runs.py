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
    """So many rounds of Dawid and Skene's model, from columns in memory to labels, without leaps."""
    DawidSkene(max_iter=2).fit(small(classes))  # what is compiled is loaded
    before = memory("VmRSS")
    forget_peak()
    start = perf_counter()
    votes = load(folder, classes)
    loaded = perf_counter()
    stamps = [loaded]
    model = DawidSkene(max_iter=rounds, tol=-np.inf, accelerate=False)
    merged = votes.merged
    loaded = IN_MEMORY.load(model, merged, model.initial_posterior(merged))
    ready = perf_counter()
    found = model.best_restart(loaded, model.pseudo_counts(merged), lambda _: stamps.append(perf_counter()))
    result = model.to_result(merged, found.params, loaded.posterior(model, found.params))
    labels = result.codes
    done = perf_counter()
    numbers = found.params.confusion.size
    return {
        "votes": len(votes),
        "tasks": len(labels),
        "workers": len(votes.workers),
        "load_seconds": loaded - start,
        "prepare_seconds": ready - loaded,
        "round_seconds": float(np.median(np.diff(stamps[1:]))),
        "fit_seconds": done - loaded,
        "peak_mb": memory("VmHWM") - before,
        "parameter_mb": numbers * 8 / 2**20,
    }


def objective(folder: Path, classes: int, reached: float, rounds: int, accelerate: bool) -> Measured:
    """How long until the log-likelihood is as high as `reached`; nearly nothing is imagined beforehand."""
    DawidSkene(max_iter=2).fit(small(classes))
    votes = load(folder, classes)
    nothing = {"smoothing": 1e-6, "diagonal": 0.0, "class_smoothing": 1e-6}
    model = DawidSkene(max_iter=rounds, tol=-np.inf, accelerate=accelerate, **nothing)
    start = perf_counter()
    merged = votes.merged
    loaded = IN_MEMORY.load(model, merged, model.initial_posterior(merged))
    heights: list[tuple[float, float]] = []
    model.best_restart(loaded, model.pseudo_counts(merged), lambda h: heights.append((perf_counter() - start, h)))
    when = [(n + 1, seconds) for n, (seconds, height) in enumerate(heights) if height >= reached]
    first, seconds = when[0] if when else (None, None)
    return {"rounds_seen": first, "seconds": seconds, "height": heights[-1][1], "reached": reached}


def likelihood(folder: Path, classes: int, params: Path) -> Measured:
    """The log-likelihood of the votes under somebody else's matrices."""
    votes = load(folder, classes)
    with np.load(params) as file:
        prior, confusion = file["prior"], file["confusion"]
    tiny = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(confusion, tiny)).reshape(len(votes.workers) * classes, classes)
    joint: Floats = votes.merged.onehot @ logs + np.log(prior)
    top = joint.max(axis=1)
    return {"loglik": float((top + np.log(np.exp(joint - top[:, None]).sum(axis=1))).sum())}


def small(classes: int) -> Votes:
    """Just enough votes for what is compiled to be used."""
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
    """Let the most memory be counted from now on."""
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
