"""One row of the tables of texts: tune on the validation set, calibrate without truth, measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from benchmarks.calibration_sets import TextSet, fuse, read_set
from crowdpilot import metrics
from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration import best_map, find_map
from crowdpilot.io import from_shares
from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.held_out_calibration import class_balanced_weights
from crowdpilot.learning.training.tuning import tune

TARGETS = {
    "hard": "targets='hard'",
    "α = .05": "targets='smoothed',alpha=.05",
    "α = .1": "targets='smoothed',alpha=.1",
    "soft": "targets='soft'",
    "sHard": "targets='shard'",
}
NN1 = {
    "backbone": ["tfidf[features=2000,min_df=2,ngrams=1]", "tfidf[features=10000,min_df=2,ngrams=2]"],
    "weight_decay": [0.0, 1e-4],
    "balance": ["none", "reweight"],
}
EMBEDDING = {"backbone": ["minilm"], "weight_decay": [0.0, 1e-4], "balance": ["none", "reweight"]}
GRIDS: dict[str, dict[str, list[Any]]] = {"NN1": NN1, "MiniLM": EMBEDDING}
MAPS = ("none", "temperature", "best")
LEARNING = {"standardize": False, "batch_size": 128, "lr": 0.01, "epochs": 100, "patience": 8}
SAMPLES = 500  # of each bootstrap interval
DRAWS = 100  # of classes from the probabilities


@dataclass(frozen=True)
class Row:
    """What is trained."""

    model: str
    name: str
    fusion: str
    target: str


def features(texts: list[str], backbone: Any, cache: Path | None) -> Any:
    """Rows for texts; those of a frozen encoder are kept in a folder."""
    kept = cache if backbone == "minilm" else None
    return to_rows(texts, torch.device("cpu"), backbone=backbone, cache=kept)


def perform(row: Row, data: Path, cache: Path | None, probs: Floats) -> dict[str, Any]:
    """The scores of the settings that are best on the validation set, with each map."""
    torch.set_num_threads(1)
    crowd = read_set(data, row.name)
    votes = from_shares(probs, tasks=crowd.votes.tasks.tolist(), classes=list(range(probs.shape[1])))
    base = CrowdClassifier("linear", f"two_stage[{TARGETS[row.target]}]", **LEARNING)
    made: dict[str, tuple[Any, ...]] = {}
    tried = []
    for settings in ParameterGrid(GRIDS[row.model]):
        key = settings["backbone"]
        if key not in made:
            seen = features(crowd.texts, key, cache)
            learned = getattr(seen, "backbone", None) or key
            others = (
                features(texts, learned, cache) for texts, _ in (crowd.validation, *crowd.tests.values())
            )
            made[key] = seen, *others
        seen, other, *tests = made[key]
        grid = {name: [value] for name, value in settings.items()}
        found = tune(base, grid, seen, votes, (other, crowd.validation[1]), by="macro_f1")
        scores = measure(crowd, [found.model.predict_proba(rows) for rows in tests])
        tried.append((found.tried[0], found.model, scores, key))
    _, best, _, key = max(tried, key=lambda t: (t[0]["macro_f1"], -t[0]["log_loss"]))
    seen, other, *tests = made[key]
    final = clone(best).set_params(calibrate="temperature")
    final.fit(seen, votes, validation=(other, crowd.validation[1]))
    final.map_, own = None, final.map_
    said = [final.predict_proba(rows) for rows in tests]
    label = np.eye(probs.shape[1])[probs.argmax(axis=1)]
    sample = final.held_out_, label
    weight = class_balanced_weights(label) if best.balance == "reweight" else None
    maps = {
        "none": find_map("none").fit(*sample), "temperature": own,
        "best": best_map(*sample, weight=weight).fit(*sample, weight=weight),
    }  # fmt: skip
    return {
        "settings": {name: getattr(best, name) for name in GRIDS[row.model]},
        "best_map": maps["best"].name,
        "maps": {
            name: measure(crowd, [fitted(p) for p in said], intervals=True) for name, fitted in maps.items()
        },
        "tried": [next(iter(scores.values())) for _, _, scores, _ in tried],
    }  # fmt: skip


def measure(crowd: TextSet, said: list[Floats], *, intervals: bool = False) -> dict[str, dict[str, Any]]:
    """Macro F1, ECE and more of each test."""
    return {
        name: score(truth, probs, intervals=intervals)
        for (name, (_, truth)), probs in zip(crowd.tests.items(), said, strict=True)
    }


def score(truth: Codes, probs: Floats, *, intervals: bool = False) -> dict[str, Any]:
    """Macro F1, ECE, debiased ECE and log-loss; of the first two also 95 % intervals."""
    labels = probs.argmax(axis=1)
    found: dict[str, Any] = {
        "macro_f1": metrics.macro_f1(truth, labels), "ece": metrics.ece(truth, probs),
        "ece_debiased": metrics.ece_debiased(truth, probs), "log_loss": metrics.log_loss(truth, probs),
        "confidence": float(probs.max(axis=1).mean()), "accuracy": metrics.accuracy(truth, labels),
    }  # fmt: skip
    if intervals:
        between = partial(metrics.interval, samples=SAMPLES)
        found["macro_f1_interval"] = between(metrics.macro_f1, truth, labels)[1:]
        found["ece_interval"] = between(metrics.ece, truth, probs)[1:]
        found["ece_if_honest"] = if_honest(probs)
    return found


def if_honest(probs: Floats) -> float:
    """The ECE that these probabilities would have on average if they were right: a test is finite."""
    rng = np.random.default_rng(0)
    steps = probs.cumsum(axis=1)[:, :-1]
    drawn = [(steps < rng.random((len(probs), 1))).sum(axis=1) for _ in range(DRAWS)]
    return float(np.mean([metrics.ece(truth, probs) for truth in drawn]))


def fused_posterior(name: str, fusion: str, data: Path) -> Floats:
    """The posterior of the tasks of a set by an aggregator; label shares are used as they are."""
    return fuse(read_set(data, name).votes, fusion)
