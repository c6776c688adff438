"""Texts: short messages to customer service with a simulated crowd, bundled for trying things out."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path

import numpy as np

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.simulated_votes import simulate_votes

CLASSES = "account", "delivery", "payment", "product"
TRAIN_TASKS = 180  # the others are to test by
CONFUSABILITY = np.array([
    [0.0, 0.2, 0.5, 0.3],
    [0.1, 0.0, 0.3, 0.6],
    [0.5, 0.3, 0.0, 0.2],
    [0.1, 0.7, 0.2, 0.0],
])  # fmt: skip


def load_texts() -> tuple[list[str], list[str]]:
    """240 messages and what each is about, in a fixed random order.

    Examples
    --------
    >>> texts, classes = load_texts()
    >>> len(texts), sorted(set(classes))
    (240, ['account', 'delivery', 'payment', 'product'])
    """
    lines = (resources("crowdpilot.datasets") / "texts.tsv").read_text("utf-8").splitlines()[1:]
    order = np.random.default_rng(0).permutation(len(lines))
    pairs = [lines[n].split("\t") for n in order]
    return [text for _, text in pairs], [name for name, _ in pairs]


def make(_: Mapping[str, Path]) -> Data:
    """The first messages with votes, the others to test by."""
    texts, names = load_texts()
    tasks = np.arange(len(texts))
    truth = np.array([CLASSES.index(name) for name in names], np.int32)
    votes = simulate_votes(
        tasks[:TRAIN_TASKS], truth[:TRAIN_TASKS], CLASSES, CONFUSABILITY, workers=20, votes_per_task=4, seed=1
    )
    parts = [
        Part(tasks[rows], truth=dict(zip(tasks[rows].tolist(), names[rows], strict=True)), texts=texts[rows])
        for rows in (slice(TRAIN_TASKS), slice(TRAIN_TASKS, None))
    ]
    train = Part(parts[0].tasks, votes, parts[0].truth, parts[0].texts)
    return Data(train, {"test": parts[1]})


DATASETS = (
    Dataset(
        name="texts",
        description="What is a message to customer service about? Written for Crowdpilot; 180 with four "
        "votes each of a simulated crowd, 60 more to test by.",
        counts=Counts(TRAIN_TASKS, 20, 4 * TRAIN_TASKS, len(CLASSES), TRAIN_TASKS),
        kind="texts",
        licence="BSD-3-Clause, as the package",
        source="Written by the developers of Crowdpilot for trying things out; the votes are simulated",
        make=make,
    ),
)
