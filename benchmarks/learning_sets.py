"""Crowds to learn from: rows with votes, and rows whose class is known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv

from crowdpilot.arrays import Codes
from crowdpilot.learning.data.labels import align
from crowdpilot.votes import Votes

Known = tuple[Any, Codes]  # rows and their classes
CIFAR_TEST = 100  # images of each class
CIFAR_VOTES, CIFAR_WORKERS = 10, 100


@dataclass(frozen=True, eq=False)
class Crowd:
    """Votes on tasks, and what a classifier may see of each.

    Parameters
    ----------
    name
        What it is called.
    x
        Row *i* is task *i* of the votes.
    votes, truth
        What workers said, and the class of each task, which nobody is told.
    test, validation
        Rows whose classes are known, to measure and to choose an epoch.
    """

    name: str
    x: Any
    votes: Votes
    truth: Codes
    test: Known
    validation: Known | None = None

    def describe(self) -> dict[str, Any]:
        """Its sizes, and a fingerprint that changes with any vote or row."""
        v = self.votes
        seen = hashlib.sha256()
        for part in (v.task, v.worker, v.label, self.x, self.truth, *self.test, *(self.validation or ())):
            seen.update(np.ascontiguousarray(part).tobytes())
        return {
            "tasks": len(v.tasks), "workers": len(v.workers), "classes": len(v.classes), "votes": len(v),
            "row": list(self.x.shape[1:]), "test": len(self.test[1]),
            "validation": 0 if self.validation is None else len(self.validation[1]),
            "votes_right": float((v.label == self.truth[v.task]).mean()),
            "imbalance": _imbalance(self.truth), "votes_imbalance": _imbalance(v.label),
            "fingerprint": seen.hexdigest()[:16],
        }  # fmt: skip


def labelme(folder: Path, prefix: str = "") -> Crowd:
    """Scenes, as a network that was trained on other images sees them."""
    return _with_features(folder, f"labelme_{prefix}".rstrip("_"), prefix)


def music(folder: Path) -> Crowd:
    """Genres of songs; there is no validation set, and all 700 songs with votes are trained on."""
    return _with_features(folder, "music")


def cifar10h(folder: Path, limit: int | None = None) -> Crowd:
    """Small images, 1,000 of them (100 of each class) set aside as a test.

    Nobody knows which worker gave which vote: only how many chose each class is kept. So ten votes of
    each image are drawn and dealt to ten of 100 made-up workers, who are all alike.
    """
    from PIL import Image

    with Image.open(folder / "images.webp") as mosaic:
        pixels = np.asarray(mosaic.convert("RGB"))
    x = pixels.reshape(100, 32, 100, 32, 3).transpose(0, 2, 4, 1, 3).reshape(10_000, 3, 32, 32)
    counts = csv.read_csv(folder / "counts.csv")
    tally = np.column_stack([counts[f"n{k}"].to_numpy() for k in range(10)])
    truth = csv.read_csv(folder / "truth.csv")["label"].to_numpy().astype(np.int32)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(truth))
    rank = _rank_within(truth[shuffled], 10)
    test, train = shuffled[rank < CIFAR_TEST], np.sort(shuffled[rank >= CIFAR_TEST])
    test, train = test[:limit], train[:limit]
    votes = deal(tally[train], CIFAR_VOTES, CIFAR_WORKERS, rng)
    return Crowd("cifar10h", x[train], votes, truth[train], (x[test], truth[test]))


def deal(tally: Any, each: int, workers: int, rng: np.random.Generator) -> Votes:
    """Votes of made-up workers: `each` of the counted votes of each task, given to different workers."""
    task, label = (np.repeat(codes.ravel(), tally.ravel()) for codes in np.indices(tally.shape))
    mixed = rng.permutation(len(task))
    task, label = task[mixed], label[mixed]
    rank = _rank_within(task, len(tally))
    kept = rank < each
    who = np.argsort(rng.random((len(tally), workers)), axis=1)
    names = np.arange(len(tally)), np.arange(workers), np.arange(tally.shape[1])
    return Votes(task[kept], who[task[kept], rank[kept]], label[kept], *names)


SETS: dict[str, tuple[str, Callable[[Path], Crowd]]] = {  # the folder of each, and how it is read
    "labelme": ("labelme", labelme),
    "labelme_effnet": ("labelme", lambda folder: labelme(folder, "effnet_")),
    "music": ("music", music),
    "cifar10h": ("cifar10h", cifar10h),
}


@cache
def read(data: Path, name: str) -> Crowd:
    """One set of a folder of sets."""
    if name not in SETS:
        raise ValueError(f"there is no set called {name!r}; there are {', '.join(SETS)}")
    folder, reader = SETS[name]
    if not (data / folder).is_dir():
        raise ValueError(f"there is no folder {folder!r} in {data}")
    return reader(data / folder)


def thin(crowd: Crowd, removed: float, seed: int) -> Crowd:
    """The same crowd without a share of its votes; tasks may be left with none."""
    total = len(crowd.votes)
    kept = np.random.default_rng(seed).permutation(total)[: round(total * (1 - removed))]
    return replace(crowd, name=f"{crowd.name} without {removed:.0%}", votes=crowd.votes.take(np.sort(kept)))


def one_against_rest(crowd: Crowd, label: str) -> Crowd:
    """Is it this class (1) or not (0): binary votes, and a test with as many rows of either."""
    names = [str(name) for name in crowd.votes.classes.tolist()]
    k = names.index(label)
    binary = (crowd.votes.label == k).astype(np.int32)
    votes = replace(crowd.votes, label=binary, classes=np.arange(2))
    x, y = crowd.test
    yes, no = np.flatnonzero(y == k), np.flatnonzero(y != k)
    drawn = np.sort(np.random.default_rng(0).permutation(no)[: len(yes)])
    rows = np.concatenate([yes, drawn])
    test = x[rows], (y[rows] == k).astype(np.int32)
    return Crowd(f"{crowd.name} {label}", crowd.x, votes, (crowd.truth == k).astype(np.int32), test)


def _with_features(folder: Path, name: str, prefix: str = "") -> Crowd:
    tasks, x = _features(folder / f"{prefix}features.npz")

    def known(part: str) -> Known:
        names, rows = _features(folder / f"{prefix}{part}_features.npz")
        return rows, _classes(folder / f"{part}_truth.csv", names)

    table = csv.read_csv(folder / "answers.csv")
    truth = _classes(folder / "truth.csv", tasks)
    columns = (table[c].to_numpy() for c in ("task", "worker", "label"))
    votes = Votes.of(*columns, tasks=tasks, classes=list(range(truth.max() + 1)))
    validation = known("valid") if (folder / f"{prefix}valid_features.npz").exists() else None
    return Crowd(name, x, align(votes, tasks), truth, known("test"), validation)


def _features(path: Path) -> tuple[list[str], Any]:
    with np.load(path) as file:
        return [str(task) for task in file["task"]], file["x"].astype(np.float32)


def _classes(path: Path, tasks: list[str]) -> Codes:
    """The class of each task in this order; classes are numbers from 0."""
    table = csv.read_csv(path)
    by_task = dict(zip(map(str, table["task"].to_pylist()), table["label"].to_pylist(), strict=True))
    return np.array([by_task[task] for task in tasks], np.int32)


def _rank_within(group: Any, groups: int) -> Any:
    """How many earlier members of its group each member has."""
    order = np.argsort(group, kind="stable")
    first = np.searchsorted(group[order], np.arange(groups))
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - first[group[order]]
    return rank


def _imbalance(codes: Codes) -> float:
    """How many times larger the largest class is than the smallest."""
    sizes = np.bincount(codes)
    return float(sizes.max() / max(sizes[sizes > 0].min(), 1))
