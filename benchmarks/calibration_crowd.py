"""Maps fitted on votes alone beside the same maps fitted on true labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import learning_sets
from benchmarks.calibration_runs import LEARNING, features
from benchmarks.calibration_sets import read_set
from benchmarks.tables import markdown
from crowdpilot import aggregation, metrics
from crowdpilot.calibration import find_map, fit_on_votes
from crowdpilot.learning import CrowdClassifier

MAPS = ("temperature", "vector", "beta", "best")
SEEDS = 5
TEXTS = ("amazon_isbook", "sentiment_polarity")
BACKBONES = ("tfidf[features=10000,min_df=2,ngrams=2]", "minilm")


def cases() -> list[tuple[str, str]]:
    """Each set with what its classifier sees."""
    return [*((name, backbone) for name in TEXTS for backbone in BACKBONES), ("labelme", "512 features")]


def measure(data: Path, cache: Path | None, name: str, backbone: str) -> dict[str, Any]:
    """ECE on the test of a set with no map and with each map, by what it was fitted on; mean of seeds."""
    torch.set_num_threads(1)
    found = [_one(data, cache, name, backbone, seed) for seed in range(SEEDS)]
    return {
        key: [float(np.mean(v)), float(np.std(v, ddof=1))]
        for key in found[0]
        for v in [[f[key] for f in found]]
    }


def _one(data: Path, cache: Path | None, name: str, backbone: str, seed: int) -> dict[str, float]:
    settings: dict[str, Any] = {**LEARNING, "epochs": 50, "patience": None}
    network = "linear"
    if name == "labelme":
        crowd = learning_sets.read(data, "labelme")
        seen, votes, truth, (x, y) = crowd.x, crowd.votes, crowd.truth, crowd.test
        network, settings = "mlp[hidden=128]", {"standardize": False, "epochs": 25}
    else:
        texts = read_set(data, name)
        votes, truth = texts.votes, texts.truth
        words, y = texts.tests["test"]
        seen = features(texts.texts, backbone, cache)
        x = features(words, getattr(seen, "backbone", None) or backbone, cache)
    model = CrowdClassifier(
        network,
        "two_stage[labels='dawid_skene',targets='soft']",
        calibrate="temperature",
        seed=seed,
        **settings,
    ).fit(seen, votes)
    workers = aggregation.parse_strategy("dawid_skene").fit(votes)
    held_out, model.map_ = model.held_out_, None
    raw = model.predict_proba(x)
    found = {
        "accuracy": metrics.accuracy(y, raw.argmax(axis=1)),
        "votes right": metrics.accuracy(truth[truth >= 0], workers.codes[truth >= 0]),
        "none": metrics.ece(y, raw),
    }
    for text in MAPS:
        map = find_map(text)
        fitted = {"truth": map.fit(held_out, truth), "posterior": map.fit(held_out, workers.probs)}
        if text != "best":
            for how, one in (("all votes", False), ("one vote", True)):
                matrices = workers.params["confusion"]
                fitted[how] = fit_on_votes(map, held_out, votes, matrices, one_vote_per_task=one, seed=seed)
        found |= {f"{text}, {how}": metrics.ece(y, f(raw)) for how, f in fitted.items()}
    return found


def render(found: dict[str, dict[str, Any]]) -> str:
    """A row for each set and map; the last column is what votes lack of the truth."""
    hows = ["truth", "posterior", "all votes", "one vote"]
    rows = []
    for name, scores in found.items():
        for map in MAPS:
            values = [scores.get(f"{map}, {how}") for how in hows]
            cells = ["–" if v is None else f"{100 * v[0]:.1f} ± {100 * v[1]:.1f}" for v in values]
            lack = 100 * (scores[f"{map}, posterior"][0] - scores[f"{map}, truth"][0])
            head = [name, map, f"{100 * scores['accuracy'][0]:.1f}", f"{100 * scores['none'][0]:.1f}"]
            rows.append([*head, *cells, f"{lack:+.1f}"])
    return markdown(["", "map", "accuracy %", "no map", *hows, "posterior − truth"], rows)
