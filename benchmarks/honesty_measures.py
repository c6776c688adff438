"""Measures of how close confidence is to accuracy, and the file that keeps them for each crowd."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from benchmarks.honesty_crowds import Crowd
from crowdpilot import metrics
from crowdpilot.aggregation.sparse.posterior import most_probable
from crowdpilot.arrays import Floats
from crowdpilot.names import hash_names

MIN_PROBABILITY = 1e-6  # for the log-loss of every method: one certain mistake costs 13.8 nats
DIGITS = 5


class Prediction(NamedTuple):
    """Probabilities, (tasks, classes), and the interval of the share of right labels of all tasks, if any."""

    probs: Floats
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Measures:
    """The measures of one prediction, or their means over seeds."""

    ece: float
    debiased: float
    log_loss: float
    brier: float
    accuracy: float
    balanced: float  # mean accuracy of the true classes
    confidence: float  # mean probability of the labels
    low: float | None = None  # the interval of the expected accuracy
    high: float | None = None
    covers: float | None = None  # whether the accuracy is in it, or how often

    @property
    def gap(self) -> float:
        """How far the mean confidence is above the accuracy."""
        return self.confidence - self.accuracy

    @property
    def width(self) -> float | None:
        """The width of the interval of the expected accuracy."""
        return None if self.low is None or self.high is None else self.high - self.low


class Case(NamedTuple):
    """What was measured: a method on the votes of a set, thinned or not, with gold or without."""

    name: str
    votes_a_task: int | None
    gold: int
    method: str


def measure(crowd: Crowd, prediction: Prediction) -> Measures:
    """Every measure, on the tasks of a known class that is not given as gold.

    The label of a task is its most probable class, ties broken by the hash of the task's name that all
    our models use, whoever made the probabilities. ECE has 15 bins of equal width.
    """
    known = np.flatnonzero(crowd.truth >= 0)
    probs, truth = prediction.probs[known], crowd.truth[known]
    labels = most_probable(probs, lambda tied: hash_names(crowd.votes.tasks[known[tied]], 0))
    floored = np.maximum(probs, MIN_PROBABILITY)
    first = _label_first(probs, labels)
    right = np.where(truth == labels, 0, np.where(truth == 0, labels, truth))  # where the truth has moved to
    accuracy = float((truth == labels).mean())
    found = Measures(
        ece=metrics.ece(right, first),
        debiased=metrics.ece_debiased(right, first),
        log_loss=metrics.log_loss(truth, floored / floored.sum(axis=1, keepdims=True)),
        brier=metrics.brier(truth, probs),
        accuracy=accuracy,
        balanced=metrics.balanced_accuracy(truth, labels),
        confidence=float(probs.max(axis=1).mean()),
    )
    if prediction.interval is None:
        return found
    low, high = map(float, prediction.interval)
    covers = low <= share_of_right_labels(crowd, accuracy) <= high
    return replace(found, low=low, high=high, covers=float(covers))


def share_of_right_labels(crowd: Crowd, accuracy: float) -> float:
    """Of all tasks: gold labels are right, and others as often as those that are measured."""
    tasks = len(crowd.votes.tasks)
    gold = 0 if crowd.votes.gold is None else int((crowd.votes.gold >= 0).sum())
    return (gold + (tasks - gold) * accuracy) / tasks


def _label_first(probs: Floats, labels: Floats) -> Floats:
    """The same rows with the class of the label as the first: our metrics take the first of equals."""
    rows = np.arange(len(probs))
    moved = probs.copy()
    moved[rows, labels] = probs[:, 0]
    moved[:, 0] = probs.max(axis=1)
    return moved


def mean_measures(found: Sequence[Measures]) -> Measures:
    """The mean of each measure over several draws of one crowd."""
    columns = {f.name: [getattr(m, f.name) for m in found] for f in fields(Measures)}
    return Measures(**{name: None if None in values else fmean(values) for name, values in columns.items()})


class Archive:
    """Measures by case, in a CSV file; they count only for the votes and true classes they were made with.

    It starts with the measures of the file, where there is one, and of `more` files.
    """

    def __init__(self, path: Path, *more: Path) -> None:
        self.path = path
        self.rows: dict[Case, tuple[str, Measures]] = {}
        for each in filter(Path.exists, (path, *more)):
            with each.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    self._read(row)

    def _read(self, row: dict[str, str]) -> None:
        thin = None if row["votes_a_task"] == "all" else int(row["votes_a_task"])
        case = Case(row["set"], thin, int(row["gold"]), row["method"])
        numbers = {f.name: float(row[f.name]) if row[f.name] else None for f in fields(Measures)}
        self.rows[case] = row["fingerprint"], Measures(**numbers)  # type: ignore[arg-type]

    def find(self, case: Case, crowd: Crowd) -> Measures | None:
        """The measures of a case, if they were made with these votes."""
        fingerprint, found = self.rows.get(case, ("", None))
        return found if fingerprint == crowd.fingerprint else None

    def add(self, case: Case, crowd: Crowd, found: Measures) -> None:
        """Keep the measures of a case, in place of earlier ones."""
        rounded = {k: None if v is None else round(v, DIGITS) for k, v in asdict(found).items()}
        self.rows[case] = crowd.fingerprint, Measures(**rounded)  # type: ignore[arg-type]

    def save(self) -> None:
        """Write all cases in order."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        names = [f.name for f in fields(Measures)]
        with self.path.open("w", newline="", encoding="utf-8") as file:
            write = csv.writer(file, lineterminator="\n").writerow
            write(["set", "votes_a_task", "gold", "method", "fingerprint", *names])
            for case in sorted(self.rows, key=_order):
                fingerprint, found = self.rows[case]
                numbers = (getattr(found, name) for name in names)
                write([case.name, case.votes_a_task or "all", case.gold, case.method, fingerprint, *numbers])


def _order(case: Case) -> tuple[str, int, int, str]:
    return case.name, case.votes_a_task or 0, case.gold, case.method
