"""Consensus labels by cleanlab, alone in its process: `python -m benchmarks.cleanlab_runner JOB`.

The job is a JSON object: `method`, `input` (an .npz file with codes of votes in `task`, `worker` and
`label`, and a classifier's `probs`, (runs, tasks, classes)), `output` (the .npz file to write: `label` and
`confidence`, both (runs, tasks)) and `memory_gb`, the most address space it may take, or null. What it cost
is printed as JSON. It runs in the environment of the peers, so it imports no part of Crowdpilot.
"""

from __future__ import annotations

import json
import resource
import sys
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.peer_runner import peak_memory

Columns = dict[str, Any]
Found = tuple[Any, Any]  # label and confidence of each task
Decide = Callable[[Any, Any], Found]  # of what `load` gives and the classifier's probabilities

OPTIONS: dict[str, dict[str, bool]] = {
    "cleanlab": {},
    "cleanlab, calibrated": {"calibrate_probs": True},
    "cleanlab, labels alone": {"return_detailed_quality": False, "return_annotator_stats": False},
}


def load(columns: Columns) -> Any:
    """Votes as cleanlab takes them: (tasks, workers), NaN where a worker did not vote."""
    table = np.full((columns["task"].max() + 1, columns["worker"].max() + 1), np.nan)
    table[columns["task"], columns["worker"]] = columns["label"]
    return table


def decide_by(options: dict[str, bool]) -> Decide:
    """CROWDLAB with these options, and the others as they are by default."""
    from cleanlab.multiannotator import (  # type: ignore[import-not-found]  # not in our environment
        get_label_quality_multiannotator,
    )

    def decide(table: Any, probs: Any) -> Found:
        found = get_label_quality_multiannotator(table, probs, **options)["label_quality"]
        return found["consensus_label"].to_numpy(), found["consensus_quality_score"].to_numpy()

    return decide


def main(job: dict[str, Any], load: Callable[[Columns], Any], decide: Decide) -> None:
    """Do one job and print its cost."""
    warnings.simplefilter("ignore")
    if job["memory_gb"] is not None:
        size = int(job["memory_gb"] * 1024**3)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    with np.load(job["input"]) as file:
        columns = dict(file)
    runs = columns.pop("probs")
    start = perf_counter()
    votes = load(columns)
    loaded, before = perf_counter() - start, peak_memory()
    seconds, found = [], []
    for probs in runs:
        start = perf_counter()
        found.append(decide(votes, probs))
        seconds.append(perf_counter() - start)
    label, confidence = (np.stack(part) for part in zip(*found, strict=True))
    np.savez(job["output"], label=label, confidence=confidence)
    memory = {"memory_before_mb": before, "memory_peak_mb": peak_memory()}
    print(json.dumps({"seconds": seconds, "load_seconds": loaded, **memory}))


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    main(job, load, decide_by(OPTIONS[job["method"]]))
