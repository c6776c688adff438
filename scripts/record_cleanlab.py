"""Record what cleanlab finds: `.peers/bin/python scripts/record_cleanlab.py` writes a file of the tests.

Run by the interpreter of the environment that `make peers` makes. `tests/aggregation/label_quality` compares
`consensus(..., method="crowdlab")` with these numbers.

cleanlab 2.9.0 counts the labels of an example by class with a function that, for numbers of type float, puts
the counts of the classes that occur first: labels 1, 2, 2 of three classes are counted as 1, 2, 0. It fits
the temperature of active-learning scores to these counts. Here labels are whole numbers where it counts, so
that it counts 0, 1, 2.
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from cleanlab import multiannotator
from cleanlab.internal import multiannotator_utils
from cleanlab.internal.util import value_counts

FILE = Path(__file__).parents[1] / "tests/aggregation/label_quality/cleanlab.json"
DECIMALS = 10
CASES: dict[str, dict[str, Any]] = {
    "three classes": {"examples": 40, "annotators": 6, "classes": 3, "labels": (1, 5)},
    "two classes": {"examples": 50, "annotators": 4, "classes": 2, "labels": (1, 4)},
    "a class that nobody gives": {
        "examples": 30,
        "annotators": 5,
        "classes": 4,
        "labels": (2, 4),
        "given": 3,
    },
    "one label each": {"examples": 25, "annotators": 3, "classes": 3, "labels": (1, 1)},
    "all label all": {"examples": 20, "annotators": 5, "classes": 5, "labels": (5, 5)},
}


def simulate(
    seed: int, examples: int, annotators: int, classes: int, labels: tuple[int, int], given: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels with NaN, and probabilities of a classifier for them and for ten more examples."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, given or classes, examples + 10)
    skill = rng.uniform(0.5, 0.9, annotators)
    said = np.where(
        rng.random((len(truth), annotators)) < skill,
        truth[:, None],
        rng.integers(0, given or classes, (len(truth), annotators)),
    ).astype(float)
    for row in said:
        count = rng.integers(labels[0], labels[1] + 1)
        row[rng.permutation(annotators)[count:]] = np.nan
    logits = rng.normal(0, 1.2, (len(truth), classes))
    logits[np.arange(len(truth)), truth] += 1.5
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return said[:examples], probs[:examples], probs[examples:]


def record(seed: int, case: dict[str, Any]) -> dict[str, Any]:
    """The input of a case, and what cleanlab returns."""
    labels, probs, unlabelled = simulate(seed, **case)
    scores = multiannotator.get_active_learning_scores(labels, probs, unlabelled)
    found = {
        "labels": labels, "pred_probs": probs, "pred_probs_unlabeled": unlabelled,
        "active_learning_scores": scores[0], "active_learning_scores_unlabeled": scores[1],
    }  # fmt: skip
    if case["labels"] != (1, 1):  # which cleanlab refuses
        tables = multiannotator.get_label_quality_multiannotator(
            labels, probs, return_weights=True, verbose=False
        )
        found |= {
            "label_quality": tables["label_quality"],
            "annotator_stats": tables["annotator_stats"],
            "detailed_label_quality": tables["detailed_label_quality"],
            "model_weight": tables["model_weight"],
            "annotator_weight": tables["annotator_weight"],
        }
    return {name: plain(value) for name, value in found.items()}


def plain(value: Any) -> Any:
    """A value as JSON has it: None for NaN, a frame as its columns and index."""
    if hasattr(value, "columns"):
        columns = {str(name): plain(value[name].to_numpy()) for name in value.columns}
        return {"index": value.index.tolist(), "columns": columns}
    rounded = np.round(np.asarray(value, float), DECIMALS)
    return json.loads(json.dumps(rounded.tolist()).replace("NaN", "null"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    multiannotator_utils.value_counts = lambda x, **sizes: value_counts(x.astype(int), **sizes)
    cases = {name: record(seed, case) for seed, (name, case) in enumerate(CASES.items())}
    FILE.write_text(json.dumps({"cleanlab": version("cleanlab"), "cases": cases}) + "\n")
