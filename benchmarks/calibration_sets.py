"""Texts with votes, or with the shares of a crowd, and texts whose class is known."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdpilot import aggregation
from crowdpilot.arrays import Codes, Floats
from crowdpilot.io import from_shares, read
from crowdpilot.learning.data.labels import align
from crowdpilot.votes import Votes

SETS = (
    "fig8_01_gop_sentiment", "fig8_02_disaster_relevance", "fig8_05_corporate_messaging",
    "fig8_06_gop_rel_only", "fig8_08_drug_relation", "amazon_isbook", "sentiment_polarity",
    "medical_cause", "movie_reviews_text",
)  # fmt: skip
FUSIONS = {"MV": "naive_soft", "DS": "dawid_skene", "GLAD": "glad", "auto": "auto"}
VALIDATION = 0.2  # of the tasks with votes, where a set has no validation file
TEST = 0.3  # of the tasks with a known class, where a set has no test file


@dataclass(frozen=True, eq=False)
class TextSet:
    """A crowd of readers.

    Parameters
    ----------
    name
        Of its folder.
    texts, votes
        What is learned from: text *i* is task *i* of the votes.
    validation
        Other texts and the code of their class: as the crowd says, or the truth where a set has it.
    tests
        Texts and their true classes, by name; the first is the one that counts.
    truth
        Of the tasks with votes, -1 where unknown; it is only compared with.
    """

    name: str
    texts: list[str]
    votes: Votes
    validation: tuple[list[str], Codes]
    tests: dict[str, tuple[list[str], Codes]]
    truth: Codes

    @property
    def shares_only(self) -> bool:
        """Whether there are no single votes."""
        return len(self.votes.workers) == 1


def read_set(data: Path, name: str) -> TextSet:
    """One of `SETS`."""
    folder = data / name
    return _with_shares(folder) if (folder / "soft.csv").exists() else _with_votes(folder)


def fuse(votes: Votes, fusion: str) -> Floats:
    """The probability of each class of each task, (tasks, classes)."""
    return aggregation.parse_strategy(FUSIONS[fusion]).fit(votes).probs


def _with_shares(folder: Path) -> TextSet:
    tasks, shares = _shares(folder / "soft.csv")
    other, seen = _shares(folder / "val_soft.csv")
    texts, val = _column(folder / "texts.csv", "text"), _column(folder / "val_texts.csv", "text")
    tests = {}
    for name in ("test_balanced", "test"):
        words, truth = (
            _column(folder / f"{name}_{c}.csv", v) for c, v in (("texts", "text"), ("truth", "label"))
        )
        tests[name] = list(words.values()), np.asarray([int(truth[task]) for task in words], np.int32)
    classes = list(range(shares.shape[1]))
    return TextSet(
        folder.name, [texts[t] for t in tasks], from_shares(shares, tasks=tasks, classes=classes),
        ([val[t] for t in other], seen.argmax(axis=1).astype(np.int32)), tests,
        np.full(len(tasks), -1, np.int32),
    )  # fmt: skip


def _with_votes(folder: Path) -> TextSet:
    texts, truth = _column(folder / "texts.csv", "text"), _column(folder / "truth.csv", "label")
    votes = read(folder / "answers.csv")
    votes = votes.take(np.isin(votes.tasks.astype(str), list(texts))[votes.task])
    tasks = list(map(str, votes.tasks[np.unique(votes.task)]))
    classes = [str(name) for name in votes.classes]
    code = {name: k for k, name in enumerate(classes)}
    known = np.asarray([code[truth[t]] if t in truth else -1 for t in tasks], np.int32)
    rng = np.random.default_rng(0)
    held = np.zeros(len(tasks), bool)
    tests = {}
    if (folder / "test_texts.csv").exists():
        words, gold = _column(folder / "test_texts.csv", "text"), _column(folder / "test_truth.csv", "label")
        tests["test"] = list(words.values()), np.asarray([code[gold[t]] for t in words], np.int32)
    else:
        held = (known >= 0) & (rng.random(len(tasks)) < TEST)
        tests["test"] = [texts[t] for t, out in zip(tasks, held, strict=True) if out], known[held]
    val = np.zeros(len(tasks), bool)
    if (folder / "val_texts.csv").exists():
        words, gold = _column(folder / "val_texts.csv", "text"), _column(folder / "val_truth.csv", "label")
        validation = list(words.values()), np.asarray([code[gold[t]] for t in words], np.int32)
    else:
        val = ~held & (rng.random(len(tasks)) < VALIDATION)
        own = _only(votes, tasks, val)
        said = aggregation.parse_strategy("dawid_skene").fit(own).codes.astype(np.int32)
        validation = [texts[t] for t in map(str, own.tasks)], said
    kept = ~held & ~val
    used = _only(votes, tasks, kept)
    return TextSet(
        folder.name, [texts[t] for t in map(str, used.tasks)], used, validation, tests, known[kept]
    )  # fmt: skip


def _only(votes: Votes, tasks: list[str], kept: np.ndarray) -> Votes:
    """The votes on some tasks, and no other tasks."""
    names = [task for task, keep in zip(tasks, kept, strict=True) if keep]
    some = votes.take(np.isin(votes.tasks.astype(str), names)[votes.task])
    task = votes.tasks[some.task].astype(str)
    return align(
        Votes.of(task, votes.workers[some.worker], votes.classes[some.label], classes=votes.classes.tolist()),
        names,
    )


def _shares(path: Path) -> tuple[list[str], Floats]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = [name for name in rows[0] if name.startswith("conf")]
    found = np.asarray([[float(row[c]) for c in columns] for row in rows])
    return [row["task"] for row in rows], found / found.sum(axis=1, keepdims=True)


def _column(path: Path, name: str) -> dict[str, str]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["task"]: row[name] for row in csv.DictReader(file)}
