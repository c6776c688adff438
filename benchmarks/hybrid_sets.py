"""Scenarios of real crowds on which policies are tried: items, votes, features of a classifier, and truth."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot import io
from crowdpilot.arrays import Codes
from crowdpilot.hybrid import LogisticRegression, Scenario
from crowdpilot.votes import Votes

NETWORKS = {"densenet": "densenet_bc_l190_k40", "preresnet": "preresnet_110", "resnet": "resnet_110"}
SETS = (
    "amazon_screening_min3", "amazon_isbook", "sentiment_polarity", "medical_cause", "jn_product", "dog",
    "labelme", *(f"cifar10h_{name}" for name in NETWORKS),
)  # fmt: skip
WORDS = [LogisticRegression(0.1), LogisticRegression(0.3), LogisticRegression(1.0)]
PIXELS = [LogisticRegression(10.0)]
CIFAR_VOTES = 20  # of the 50 of each image; no policy needs more


@cache
def read_scenario(data: Path, name: str) -> Scenario:
    """One of `SETS`."""
    if name == "amazon_screening_min3":
        return _screening(data / name)
    if name.startswith("cifar10h"):
        return _cifar(data, NETWORKS[name.partition("_")[2]])
    return _with_votes(data / name)


def _with_votes(folder: Path) -> Scenario:
    """Items whose class is known; votes on others are left out."""
    truth = _column(folder / "truth.csv", "label")
    votes = io.read(folder / "answers.csv").with_gold(truth)
    gold = votes.gold if votes.gold is not None else np.full(len(votes.tasks), -1)
    known = np.flatnonzero(gold >= 0)
    items = np.asarray([str(task) for task in votes.tasks[known]], object)
    some = votes.select(tasks=known)
    kept = Votes(some.task, some.worker, some.label, items, votes.workers, votes.classes)
    features, classifier = _features(folder, items.tolist())
    return Scenario(
        items, votes.classes, gold[known].astype(np.int32), {"": kept}, None, features, classifier
    )


def _features(folder: Path, items: list[str]) -> tuple[Any, Any]:
    """Features of each item and a classifier; None if the set has no features."""
    if (folder / "texts.csv").exists():
        texts = _column(folder / "texts.csv", "text")
        return words([texts[item] for item in items]), WORDS
    if (folder / "features.npz").exists():
        stored = np.load(folder / "features.npz", allow_pickle=True)
        row = {str(task): n for n, task in enumerate(stored["task"])}
        x = stored["x"].astype(np.float64)[[row[item] for item in items]]
        return (x - x.mean(axis=0)) / x.std(), PIXELS
    return None, None


def words(texts: list[str]) -> Any:
    """Texts as sparse rows of TF-IDF, with pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    count = TfidfVectorizer(min_df=2, sublinear_tf=True, ngram_range=(1, 2), max_features=20_000)
    return count.fit_transform(texts).tocsr()


def _screening(folder: Path) -> Scenario:
    with (folder / "items.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    items = np.arange(len(rows))
    votes = {
        criterion: _anonymous(
            np.array([[int(r[f"{criterion}_out"]), int(r[f"{criterion}_in"])] for r in rows]), items
        )
        for criterion in ("is_book", "is_negative")
    }
    truth = np.array([int(row["Y"]) for row in rows], np.int32)
    features = words([row["tokens"] for row in rows])
    return Scenario(items, np.arange(2), truth, votes, None, features, WORDS)


def _cifar(data: Path, network: str) -> Scenario:
    counts = np.array(
        [[int(row[f"n{k}"]) for k in range(10)] for row in _rows(data / "cifar10h" / "counts.csv")]
    )
    truth = np.array([int(row["label"]) for row in _rows(data / "cifar10h" / "truth.csv")], np.int32)
    probs = np.load(data / "cifar10h_models" / "probabilities.npz")[network].astype(np.float64)
    rng = np.random.default_rng(0)
    drawn = np.stack([rng.multivariate_hypergeometric(row, CIFAR_VOTES) for row in counts])
    items = np.arange(len(counts))
    return Scenario(items, np.arange(10), truth, {"": _anonymous(drawn, items)}, probs)


def _anonymous(counts: Codes, items: Codes) -> Votes:
    """Votes of anonymous workers, from how many chose each class."""
    task, label = (np.repeat(codes.ravel(), counts.ravel()) for codes in np.indices(counts.shape))
    nobody = np.array([None], object)
    who = np.zeros(len(task), np.int32)
    return Votes(
        task.astype(np.int32), who, label.astype(np.int32), items, nobody, np.arange(counts.shape[1])
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _column(path: Path, name: str) -> dict[str, str]:
    return {row["task"]: row[name] for row in _rows(path)}
