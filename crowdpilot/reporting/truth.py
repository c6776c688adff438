"""Labels and probabilities matched with the known truth, and their metrics with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.metrics import LABEL_METRICS, PROBABILITY_METRICS, interval
from crowdpilot.names import to_names

Truth = Mapping[Any, Any]  # the class of some tasks, by their names


class KnownTasks(NamedTuple):
    """The tasks whose true class is known, with their labels and posteriors."""

    task: Codes  # (known,)
    truth: Codes  # (known,)
    label: Codes  # (known,)
    probs: Floats  # (known, classes)
    classes: Names  # those of the votes, then any that only the truth has

    @property
    def right(self) -> Any:
        """Which labels are right, (known,)."""
        return self.truth == self.label

    @property
    def confidence(self) -> Floats:
        """The probability of each label, (known,)."""
        top: Floats = self.probs.max(axis=1)
        return top


class MetricInterval(NamedTuple):
    """A metric with its bootstrap interval."""

    name: str
    value: float
    low: float
    high: float


def match_truth(result: Aggregate, truth: Truth) -> KnownTasks:
    """The tasks of a result whose truth is known; names of tasks and classes are compared as text."""
    votes = result.votes
    classes = {str(name): k for k, name in enumerate(votes.classes.tolist())}
    answers = {str(task): str(label) for task, label in truth.items() if label is not None}
    for label in answers.values():
        classes.setdefault(label, len(classes))
    answered = [answers.get(str(task)) for task in votes.tasks.tolist()]
    codes = np.asarray([-1 if a is None else classes[a] for a in answered], np.int32)
    task = np.flatnonzero(codes >= 0).astype(np.int32)
    if not len(task):
        raise ValueError(f"the truth names none of the {len(votes.tasks)} tasks of the votes")
    more = len(classes) - len(votes.classes)
    names = [*votes.classes.tolist(), *list(classes)[len(votes.classes) :]]
    probs = np.pad(result.probs[task], ((0, 0), (0, more)))
    return KnownTasks(task, codes[task], result.codes[task], probs, to_names(names))


def truth_metrics(
    known: KnownTasks, *, level: float = 0.95, samples: int = 500, seed: int = 0
) -> list[MetricInterval]:
    """Every metric of labels and of probabilities, with its bootstrap interval."""
    label_rows = [
        MetricInterval(
            name, *interval(metric, known.truth, known.label, level=level, samples=samples, seed=seed)
        )
        for name, metric in LABEL_METRICS.items()
    ]
    return label_rows + [
        MetricInterval(
            name, *interval(metric, known.truth, known.probs, level=level, samples=samples, seed=seed)
        )
        for name, metric in PROBABILITY_METRICS.items()
    ]
