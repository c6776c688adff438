"""Fit one model of another library, alone in its process: `python peer_runner.py JOB`.

The job is a JSON object: `library`, `model`, `options`, `votes` (an .npz file with the columns
`task`, `worker` and `label`) and `labels` (the .npz file to write: the columns `task` and `label`).
What it cost is printed as JSON. It runs in the environment of the peers, so it imports no part of
Crowdpilot.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np


class Fitted(NamedTuple):
    """Tasks and their labels, and the rounds it took where a model works in rounds."""

    tasks: Any
    labels: Any
    rounds: int | None


Columns = dict[str, Any]
Fit = Callable[[], Fitted]
Load = Callable[[str, dict[str, Any], Columns], Fit]


def crowd_kit(model: str, options: dict[str, Any], columns: Columns) -> Fit:
    """Prepare a class of crowd-kit; it takes a data frame and draws ties from numpy's global state."""
    import pandas as pd
    from crowdkit import aggregation  # type: ignore[import-not-found]  # not in our environment

    data = pd.DataFrame(columns)
    aggregator = getattr(aggregation, model)(**options)

    def fit() -> Fitted:
        labels = aggregator.fit_predict(data)
        rounds = len(getattr(aggregator, "loss_history_", ())) or options.get("n_iter")
        return Fitted(labels.index.to_numpy(), labels.to_numpy(), rounds)

    return fit


def peerannot(model: str, options: dict[str, Any], columns: Columns) -> Fit:
    """Prepare a class of peerannot; it takes a dictionary of dictionaries of numbers from 0."""
    from peerannot import models  # type: ignore[import-not-found]  # not in our environment

    answers: dict[int, dict[int, int]] = {}
    for task, worker, label in zip(*(columns[c].tolist() for c in ("task", "worker", "label")), strict=True):
        answers.setdefault(task, {})[worker] = label
    sizes = {"n_workers": int(columns["worker"].max()) + 1, "n_classes": int(columns["label"].max()) + 1}

    def fit() -> Fitted:
        aggregator = getattr(models, model)(answers=answers, **sizes)
        _, rounds = aggregator.run(**options)
        labels = np.asarray(aggregator.get_probas()).argmax(axis=1)
        return Fitted(np.arange(len(labels)), labels, rounds)

    return fit


LIBRARIES: dict[str, Load] = {"crowd-kit": crowd_kit, "peerannot": peerannot}
MODULES = {"crowd-kit": "crowdkit.aggregation", "peerannot": "peerannot.models"}


def main(job: dict[str, Any], libraries: dict[str, Load] = LIBRARIES) -> None:
    """Do one job and print its cost."""
    warnings.simplefilter("ignore")
    np.random.seed(0)  # noqa: NPY002  # crowd-kit knows no other way to make ties repeatable
    with np.load(job["votes"]) as file:
        columns = {name: file[name] for name in ("task", "worker", "label")}
    if job["library"] in MODULES:
        importlib.import_module(MODULES[job["library"]])  # not part of the time
    start = perf_counter()
    fit = libraries[job["library"]](job["model"], job["options"], columns)
    loaded, busy, before = perf_counter(), process_time(), peak_memory()
    tasks, labels, rounds = fit()
    done, worked = perf_counter(), process_time()
    np.savez(job["labels"], task=_plain(tasks), label=_plain(labels))
    cost = {"seconds": done - loaded, "cpu_seconds": worked - busy, "load_seconds": loaded - start}
    memory = {"memory_before_mb": before, "memory_peak_mb": peak_memory()}
    print(json.dumps(cost | {"rounds": rounds} | memory))


def _plain(names: Any) -> Any:
    """Numbers as they are, everything else as text: what numpy stores without pickling."""
    array = np.asarray(names)
    return array if array.dtype.kind in "iu" else array.astype(str)


def peak_memory() -> float:
    """The most memory this process has held at one time, in MB.

    What `getrusage` says includes the parent at the moment of the fork, so Linux's own mark is
    preferred where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024
    scale = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
