"""Crowd-kit's Dawid-Skene on columns of numbers, in the environment of the peers: `scale_peer.py JOB`.

The job is a JSON object: `votes` (a folder with `task.npy`, `worker.npy`, `label.npy`), `rounds` (a list: so
many rounds, one fit for each), `classes`, and `params`, the file for the matrices of the last fit.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene  # type: ignore[import-not-found]  # not in our environment


def main(job: dict[str, Any]) -> None:
    """Fit, and print the seconds of each fit."""
    folder = Path(job["votes"])
    data = pd.DataFrame({name: np.load(folder / f"{name}.npy") for name in ("task", "worker", "label")})
    seconds, rounds = [], []
    for count in job["rounds"]:
        model = DawidSkene(n_iter=count, tol=-1e300)
        start = perf_counter()
        model.fit_predict(data)
        seconds.append(perf_counter() - start)
        rounds.append(len(model.loss_history_))
    if params := job.get("params"):
        classes = range(job["classes"])
        index = pd.MultiIndex.from_product([range(data["worker"].max() + 1), classes])
        said = model.errors_.reindex(index, columns=classes, fill_value=0.0)
        prior = model.priors_.reindex(classes, fill_value=0.0)
        np.savez(params, prior=prior.to_numpy(), confusion=said.to_numpy())  # (workers x said, true)
    print(json.dumps({"seconds": seconds, "rounds": rounds}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
