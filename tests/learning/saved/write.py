"""Writes the files of this folder, once for each version: `python -m tests.learning.saved.write`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.learning import CrowdClassifier
from crowdpilot.votes import Votes

FOLDER = Path(__file__).parent
SHORT: dict[str, Any] = {"epochs": 3, "lr": 0.05, "device": "cpu"}
METHODS = (
    "anno_reg", "conal", "crowdlayer", "mutual[members=2]", "raykar",
    "two_stage[labels='dawid_skene']", "wdn",
)  # fmt: skip


def saved_votes() -> tuple[np.ndarray, Votes]:
    """Numbers for 40 tasks of three classes, and four votes on each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 40)
    label = np.where(rng.random((40, 4)) < 0.8, truth[:, None], rng.integers(0, 3, (40, 4)))
    names = np.array(["cat", "dog", "owl"], object)
    votes = Votes.of(np.repeat(np.arange(40), 4), np.tile(list("abcd"), 40), names[label.ravel()])
    return np.eye(3)[truth][:, :2] * 2 + rng.normal(0, 0.3, (40, 2)), votes


def texts(X: np.ndarray) -> list[str]:
    return [" ".join(["film", "good" if a > 1 else "bad", "long" if b > 1 else "short"]) for a, b in X]


def images(X: np.ndarray) -> np.ndarray:
    """Gray pixels, (tasks, 8, 8)."""
    return np.clip(X.sum(axis=1)[:, None, None] * 60 + np.arange(64).reshape(8, 8), 0, 255).astype(np.uint8)


def classifiers() -> dict[str, tuple[CrowdClassifier, Any]]:
    """Classifiers by the names of their files, and X of each."""
    X, _ = saved_votes()
    by_method = {
        method.partition("[")[0]: (
            CrowdClassifier("mlp[hidden=4]", method, calibrate="temperature", **SHORT),
            X,
        )
        for method in METHODS
    }
    return by_method | {
        "texts": (
            CrowdClassifier("linear", "two_stage", backbone="tfidf", calibrate="beta", **SHORT),
            texts(X),
        ),
        "images": (
            CrowdClassifier("resnet_small[width=2,blocks=1,stages=2]", "crowdlayer[kind='vw+b']", **SHORT),
            images(X),
        ),
    }


def checkpointed(folder: Path) -> CrowdClassifier:
    """A classifier whose training has its state in a folder."""
    return CrowdClassifier("linear", "mutual[members=2]", checkpoint=folder, **SHORT)


def main() -> None:
    X, votes = saved_votes()
    predicted: dict[str, Any] = {}
    for name, (model, x) in classifiers().items():
        model.fit(x, votes).save(FOLDER / f"{name}-1.safetensors")
        predicted[name] = model.predict_proba(x[:5]).round(6).tolist()
    predicted["checkpoint"] = (
        checkpointed(FOLDER / "checkpoint-1").fit(X, votes).predict_proba(X[:5]).round(6).tolist()
    )
    (FOLDER / "predictions-1.json").write_text(json.dumps(predicted, indent=1) + "\n")


if __name__ == "__main__":
    main()
