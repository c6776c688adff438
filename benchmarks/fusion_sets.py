"""Crowds with a cross-fitted classifier: votes thinned to a few a task, and a classifier trained on those."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

from benchmarks import sets
from benchmarks.honesty_crowds import Crowd, read_crowd
from benchmarks.hybrid_sets import NETWORKS, words
from crowdpilot.aggregation import MajorityVoting
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

TEXTS = (
    "movie_reviews_text", "amazon_isbook", "sentiment_polarity", "medical_cause", "drug_label_relation",
    "snow_emotion6", "snow_valence3", "truthfulness_s3", "truthfulness_s6bin", "recidivism_balanced",
    "jn_product", "variable_misuse",
)  # fmt: skip
FEATURES = {"labelme": "features.npz", "labelme_effnet": "effnet_features.npz", "music": "features.npz"}
NAMES = (*TEXTS, *FEATURES, *(f"cifar10h_{name}" for name in NETWORKS))
CIFAR_IMAGES = 3000  # of the 10,000
CIFAR_VOTES = 5  # of the 50 of each image
MIN_PROB = 1e-4  # of a class that the classifier has not seen
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Source:
    """A crowd, and what a classifier sees of its tasks or, where it is trained already, says of them."""

    crowd: Crowd
    group: str
    features: Any = None
    probs: Floats | None = None

    def thinned(self, votes_a_task: int, seed: int) -> AssistedCrowd:
        """So many votes of each task, with a classifier that has seen these votes on other tasks."""
        crowd = self.crowd.thinned(votes_a_task, seed)
        if self.probs is not None:
            return AssistedCrowd(crowd, self.group, self.probs, seed)
        return AssistedCrowd(crowd, self.group, classify(self.features, crowd.votes, seed), seed)


@dataclass(frozen=True, eq=False)
class AssistedCrowd:
    """A crowd and the probabilities of a classifier, (tasks, classes)."""

    crowd: Crowd
    group: str
    probs: Floats
    seed: int


def read_sources(data: Path, names: tuple[str, ...] = NAMES) -> Iterator[Source]:
    """The crowds of these names."""
    for name in names:
        yield _cifar(data, name) if name.startswith("cifar10h_") else _with_content(data, name)


def classify(features: Any, votes: Votes, seed: int) -> Floats:
    """Out-of-fold probabilities of logistic regression trained on majority votes, (tasks, classes)."""
    label = MajorityVoting().fit(votes).codes
    fold = np.random.default_rng(seed).permutation(len(label)) % FOLDS
    probs = np.full((len(label), len(votes.classes)), MIN_PROB)
    with threadpool_limits(1):  # the matrices are small: threads would wait for each other
        for f in range(FOLDS):
            seen, held_out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            if len(known := np.unique(label[seen])) < 2:
                probs[held_out, known] += 1
                continue
            model = LogisticRegression(max_iter=300).fit(features[seen], label[seen])
            probs[np.ix_(held_out, model.classes_)] += model.predict_proba(features[held_out])
    return probs / probs.sum(axis=1, keepdims=True)


def _with_content(data: Path, name: str) -> Source:
    """Tasks that have a text or features; the others are left out."""
    folder = data / name.removesuffix("_effnet")
    crowd = read_crowd(folder)
    if name in TEXTS:
        table = csv.read_csv(folder / "texts.csv", parse_options=csv.ParseOptions(newlines_in_values=True))
        tasks, content = table["task"].to_pylist(), np.asarray(table["text"].to_pylist(), object)
    else:
        with np.load(folder / FEATURES[name], allow_pickle=True) as stored:
            tasks, content = stored["task"].tolist(), stored["x"].astype(np.float64)
    row_of = {str(task): row for row, task in enumerate(tasks)}
    rows = np.array([row_of.get(str(task), -1) for task in crowd.votes.tasks])
    some = np.flatnonzero(rows >= 0)
    content = content[rows[some]]
    features = (
        words([text or "" for text in content]) if name in TEXTS else StandardScaler().fit_transform(content)
    )
    crowd = replace(crowd, name=name, votes=crowd.votes.select(tasks=some), truth=crowd.truth[some])
    return Source(crowd, sets.group_of(folder.name), features)


def _cifar(data: Path, name: str) -> Source:
    """Some images of CIFAR-10H with votes of unknown workers, and the probabilities of a network."""
    table = csv.read_csv(data / "cifar10h" / "counts.csv")
    counts = np.column_stack([table[f"n{k}"].to_numpy() for k in range(10)])
    truth = csv.read_csv(data / "cifar10h" / "truth.csv")["label"].to_numpy().astype(np.int32)
    probs = np.load(data / "cifar10h_models" / "probabilities.npz")[NETWORKS[name.partition("_")[2]]]
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(len(truth))[:CIFAR_IMAGES])
    drawn = np.stack([rng.multivariate_hypergeometric(row, CIFAR_VOTES) for row in counts[some]])
    task, label = (np.repeat(codes.ravel(), drawn.ravel()) for codes in np.indices(drawn.shape))
    order = np.lexsort((rng.random(len(task)), task))
    worker = np.arange(len(task)) % CIFAR_VOTES  # the n-th vote on each image is counted as one worker's
    votes = Votes(
        task[order].astype(np.int32), worker.astype(np.int32), label[order].astype(np.int32),
        np.arange(len(some)), np.arange(CIFAR_VOTES), np.arange(10),
    )  # fmt: skip
    p = probs[some].astype(np.float64)
    return Source(
        Crowd(name, votes, truth[some]), sets.group_of("cifar10h"), probs=p / p.sum(axis=1, keepdims=True)
    )
