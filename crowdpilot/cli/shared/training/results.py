"""Results of training: scores of all parts, and settings and learning curves as JSON."""

from __future__ import annotations

import json
from typing import Any

from crowdpilot.arrays import Codes, Floats
from crowdpilot.cli.shared.output import print_message
from crowdpilot.cli.shared.training.data import TrainingData
from crowdpilot.json_values import to_json_value
from crowdpilot.metrics import LABEL_METRICS, PROBABILITY_METRICS

SUMMARY_METRICS = ("accuracy", "macro_f1", "ece")

Scores = dict[str, dict[str, float]]  # of each part of the data, by the name of the measure


def score_parts(model: Any, data: TrainingData) -> Scores:
    """All measures of the classifier on the parts whose truth is known, the training tasks included."""
    return {name: measure(truth, model.predict_proba(X)) for name, (X, truth) in data.known.items()}


def measure(truth: Codes, probs: Floats) -> dict[str, float]:
    """Every measure of probabilities and of the labels they give."""
    label = probs.argmax(axis=1)
    scores = {name: metric(truth, label) for name, metric in LABEL_METRICS.items()}
    return scores | {name: metric(truth, probs) for name, metric in PROBABILITY_METRICS.items()}


def summarize(scores: Scores) -> None:
    """Print a line with the main scores of each part."""
    for part, of_part in scores.items():
        print_message(f"{part}: " + ", ".join(f"{name} {of_part[name]:.4f}" for name in SUMMARY_METRICS))


def to_json(model: Any, data: TrainingData, scores: Scores) -> str:
    """Settings, scores, learning curves and rounds of self-training as JSON."""
    description = {
        "model": {
            "network": str(model.network),
            "method": str(model.method),
            "parameters": sum(p.numel() for p in model.method_.net.parameters()),
            "classes": model.classes_.tolist(),
        },
        "settings": model.get_params(),
        "votes": {
            "votes": len(data.votes), "tasks": len(data.votes.tasks), "workers": len(data.votes.workers)
        },
        "scores": scores,
        "epochs": [{**row, "epoch": int(row["epoch"])} for row in model.history_],
        "rounds": [_round(one) for one in model.rounds_],
        "pruned": model.pruned_,
        "seconds": round(model.seconds_, 3),
    }  # fmt: skip
    return json.dumps(to_json_value(description), indent=2, ensure_ascii=False) + "\n"


def _round(one: Any) -> dict[str, Any]:
    """A round of self-training by its names in the file."""
    return {
        "pseudo_votes": one.pseudo_votes, "imbalance_votes": one.imbalance_votes,
        "imbalance_pseudo_votes": one.imbalance_pseudo_votes, "imbalance_all": one.imbalance_all,
        "precision": one.precision, "recall": one.recall, "scores": one.scores,
    }  # fmt: skip
