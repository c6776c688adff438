"""Crowds with a classifier beside them: real ones, and simulated ones of any size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

from benchmarks import sets
from benchmarks.hybrid_sets import words
from crowdpilot.aggregation import MajorityVoting
from crowdpilot.arrays import Codes, Floats
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes

SETS = ("labelme", "music", "sentiment_polarity", "amazon_isbook", "jn_product")
FOLDS = 5


@dataclass(frozen=True, eq=False)
class AssistedCrowd:
    """Votes, probabilities of a classifier, (runs, tasks, classes), and the class of each task."""

    votes: Votes
    probs: Floats
    truth: Codes  # -1 where it is not known

    def save(self, path: Path) -> Path:
        """Write what a runner reads; the truth is not part of it."""
        v = self.votes
        np.savez(path, task=v.task, worker=v.worker, label=v.label, probs=self.probs)
        return path


def read_set(folder: Path, runs: int) -> AssistedCrowd:
    """A real set; every run splits the tasks into other folds."""
    found = sets.read(folder)
    votes = found.with_repeats("last")
    code = {str(name): k for k, name in enumerate(votes.classes)}
    tasks = [str(name) for name in votes.tasks]
    truth = np.asarray([code.get(found.truth.get(task, ""), -1) for task in tasks], np.int32)
    x = _features(folder, tasks)
    return AssistedCrowd(votes, np.stack([classify(x, votes, seed) for seed in range(runs)]), truth)


def classify(x: Any, votes: Votes, seed: int) -> Floats:
    """Out-of-fold probabilities of logistic regression trained on majority votes, (tasks, classes)."""
    label = MajorityVoting().fit(votes).codes
    scaler = StandardScaler(with_mean=isinstance(x, np.ndarray), with_std=isinstance(x, np.ndarray))
    model = make_pipeline(scaler, LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    probs = np.zeros((len(votes.tasks), len(votes.classes)))
    with threadpool_limits(1):  # the matrices are small: threads would wait for each other
        probs[:, np.unique(label)] = cross_val_predict(model, x, label, cv=folds, method="predict_proba")
    return probs


def simulate(
    tasks: int, workers: int, *, votes_per_task: int = 5, classes: int = 10, seed: int = 0
) -> AssistedCrowd:
    """Workers who are right in 50 to 95 of 100 cases, and a classifier whose log-odds are noisy."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.5, 0.95, workers).tolist()
    votes, truth = one_coin(tasks, skill, classes=classes, votes_per_task=votes_per_task, seed=seed)
    logits = rng.normal(2 * np.eye(classes)[truth], 1.0)
    return AssistedCrowd(votes.take(rng.permutation(len(votes))), softmax(logits, axis=1)[None], truth)


def _features(folder: Path, tasks: list[str]) -> Any:
    """Rows of TF-IDF of texts, or columns of numbers, in the order of the tasks."""
    if (path := folder / "texts.csv").exists():
        table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))
        names, values = table["task"].to_pylist(), table["text"].to_pylist()
    elif (path := folder / "features.npz").exists():
        with np.load(path, allow_pickle=True) as stored:
            names, values = stored["task"].tolist(), stored["x"].astype(np.float64)
    else:
        raise ValueError(f"{folder.name} has neither texts.csv nor features.npz for a classifier")
    row_of = {str(name): n for n, name in enumerate(names)}
    if missing := [task for task in tasks if task not in row_of]:
        raise ValueError(f"{path} has no row for task {missing[0]!r}")
    rows = [row_of[task] for task in tasks]
    return values[rows] if isinstance(values, np.ndarray) else words([values[n] or "" for n in rows])
