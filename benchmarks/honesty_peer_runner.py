"""Probabilities by crowd-kit's models: a list of jobs as JSON from standard input.

A job has `votes` (an .npz file with the columns `task`, `worker` and `label`, all numbers from 0), `tasks`
and `classes` (how many there are), and `models`: for each class of crowd-kit the .npz file to write, with
`probs` (tasks, classes) or the `reason` why there are none. It runs in the environment of the peers, so it
imports no part of Crowdpilot.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np


def predict(model: str, columns: dict[str, Any], tasks: int, classes: int) -> Any:
    """The probabilities of one model; a class that it has never seen has none."""
    import pandas as pd
    from crowdkit import aggregation  # type: ignore[import-not-found]  # not in our environment

    np.random.seed(0)  # noqa: NPY002  # crowd-kit knows no other way to make ties repeatable
    found = getattr(aggregation, model)().fit_predict_proba(pd.DataFrame(columns))
    probs = found.reindex(index=range(tasks), columns=range(classes)).fillna(0).to_numpy(float)
    total = probs.sum(axis=1, keepdims=True)
    if not (np.isfinite(probs).all() and (total > 0).all()):
        raise ValueError(f"{int((~(total > 0)).sum())} tasks have no probabilities")
    return probs / total


def main(jobs: list[dict[str, Any]]) -> None:
    """Do all jobs."""
    warnings.simplefilter("ignore")
    for job in jobs:
        with np.load(job["votes"]) as file:
            columns = {name: file[name] for name in ("task", "worker", "label")}
        for model, path in job["models"].items():
            try:
                np.savez(path, probs=predict(model, columns, job["tasks"], job["classes"]))
            except Exception as error:  # one model must not end the others
                np.savez(path, reason=np.asarray(f"{type(error).__name__}: {error}"))


if __name__ == "__main__":
    main(json.load(sys.stdin))
