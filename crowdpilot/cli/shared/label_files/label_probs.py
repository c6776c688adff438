"""The probabilities that a file of labels has: a column for each class, or the confidence alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdpilot.arrays import Codes, Floats
from crowdpilot.io.tables.label_tables import LabelTable

PREFIX = "p_"  # of the column of a class


def classes_with_probs(table: LabelTable) -> list[str]:
    """The classes that have a column of probabilities."""
    return [name.removeprefix(PREFIX) for name in table.columns if name.startswith(PREFIX)]


def label_probs(table: LabelTable, rows: Codes, label: Codes, classes: Sequence[str]) -> Floats | None:
    """Class probabilities, (tasks, classes); None if the file has no columns of classes and no confidence.

    Parameters
    ----------
    table
        Labels of tasks.
    rows
        Which of them.
    label
        The label of each of these, as a code of `classes`.
    classes
        Names of all classes.
    """
    if named := classes_with_probs(table):
        probs = np.zeros((len(rows), len(classes)))
        for k, name in enumerate(classes):
            if name in named:
                probs[:, k] = _probabilities(table, f"{PREFIX}{name}", rows)
        return probs
    if "confidence" not in table.columns:
        return None
    return spread_confidence(_probabilities(table, "confidence", rows), label, len(classes))


def spread_confidence(confidence: Floats, label: Codes, classes: int) -> Floats:
    """Class probabilities, (tasks, classes), from those of labels; other classes share the rest evenly."""
    probs: Floats = np.repeat((1 - confidence[:, None]) / max(classes - 1, 1), classes, axis=1)
    probs[np.arange(len(label)), label] = confidence
    return probs


def _probabilities(table: LabelTable, column: str, rows: Codes) -> Floats:
    numbers = table.numbers(column)[rows]
    if missing := np.flatnonzero(np.isnan(numbers)).tolist():
        raise ValueError(f"{table.name} has no {column} for task {table.tasks[rows[missing[0]]]!r}")
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise ValueError(f"{table.name} has a {column} that is not between 0 and 1")
    return numbers
