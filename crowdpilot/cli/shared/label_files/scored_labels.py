"""Labels beside the truth: both files as codes of the same classes, and every measure with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.cli.shared.label_files.label_probs import classes_with_probs, label_probs
from crowdpilot.io.tables.label_tables import read_label_table
from crowdpilot.metrics import LABEL_METRICS, SHOWN_METRICS, interval, per_class
from crowdpilot.names import encode, lookup, natural_order

MAX_SHOWN_CLASSES = 5
CLASS_MEASURES = ("precision", "recall", "f1")

Row = tuple[str, str | None, float, float | None, float | None]  # measure, class, value and its bounds


class ScoredLabels(NamedTuple):
    """Tasks that have a label and a true label, and sentences about both files."""

    classes: Names
    label: Codes  # (tasks,)
    truth: Codes  # (tasks,)
    probs: Floats | None  # (tasks, classes)
    notes: list[str]


def read_scored_labels(labels: Path, truth: Path) -> ScoredLabels:
    """The labels and the truth of the tasks that both files have."""
    labelled, known = read_label_table(labels), read_label_table(truth)
    row = lookup(known.tasks, labelled.tasks)  # of each task with a truth
    has = np.flatnonzero(row >= 0)
    if not len(has):
        raise ValueError(
            f"{labelled.name} names none of the {len(known.tasks)} tasks; they are called "
            f"{_few(labelled.tasks[:1])} there and {_few(known.tasks[:1])} here: rename them"
        )
    named = classes_with_probs(labelled)
    classes = encode([*named, *map(str, labelled.labels), *map(str, known.labels)]).names
    label = lookup(labelled.labels, classes)[labelled.codes[row[has]]]
    true = lookup(known.labels, classes)[known.codes[has]]
    _check_classes(labelled.name, classes[np.unique(label)], known.name, classes[np.unique(true)])
    probs = label_probs(labelled, row[has], label, classes.tolist())
    notes = [
        f"{table.left_out} of {table.rows_read} rows of {table.name} left out: without a label"
        for table in (labelled, known)
        if table.left_out
    ]
    if len(has) < len(row):
        missing = f"{len(row) - len(has)} of {len(row)} tasks of {known.name}"
        notes.append(f"{missing} have no label and do not count")
    if probs is not None:
        notes.append(_compare_confidence(true, probs))
    return ScoredLabels(classes, label, true, probs, notes)


def measures(
    scored: ScoredLabels, bootstrap: Mapping[str, Any]
) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """The name of each measure, and a function that computes its rows of a table."""
    between = partial(interval, **bootstrap)
    _, label, truth, probs, _ = scored
    for name, metric in LABEL_METRICS.items():
        yield name, partial(_row, name, between, metric, truth, label)
    for name, metric in SHOWN_METRICS.items() if probs is not None else ():
        yield name, partial(_row, name, between, metric, truth, probs)
    yield "each class", partial(_rows_of_classes, scored, between)


def _row(name: str, between: Callable[..., Any], *arguments: Any) -> list[Row]:
    return [(name, None, *between(*arguments))]


def _rows_of_classes(scored: ScoredLabels, between: Callable[..., Any]) -> list[Row]:
    table = per_class(scored.truth, scored.label)
    names = scored.classes[table.classes]
    order = natural_order(names)
    rows: list[Row] = [("support", str(names[k]), int(table.support[k]), None, None) for k in order]
    bounds = between(_class_measures, scored.truth, scored.label)
    for n, measure in enumerate(CLASS_MEASURES):
        for k in order:
            value, low, high = (float(bound[n, k]) for bound in bounds)
            rows.append((measure, str(names[k]), value, low, high))
    return rows


def _class_measures(truth: Any, labels: Any, weight: Any) -> Floats:
    """Precision, recall and F1, (..., measures, classes)."""
    table = per_class(truth, labels, weight=weight)
    return np.stack([getattr(table, name) for name in CLASS_MEASURES], axis=-2)


def _check_classes(labels: str, labelled: Names, truth: str, known: Names) -> None:
    """Raise if no label is a true label of any task, as it is if classes have other names there."""
    if not {*labelled}.intersection(known):
        raise ValueError(
            f"{labels} and {truth} share no class, so that no label could be right; they are called "
            f"{_few(labelled)} in one and {_few(known)} in the other: rename them"
        )


def _few(names: Names) -> str:
    shown = ", ".join(map(repr, names[:MAX_SHOWN_CLASSES].tolist()))
    return shown + (" …" if len(names) > MAX_SHOWN_CLASSES else "")


def _compare_confidence(truth: Codes, probs: Floats) -> str:
    """How many labels are right, and how many should be by their confidence."""
    right, sure = float((probs.argmax(axis=1) == truth).mean()), float(probs.max(axis=1).mean())
    gap = round(100 * abs(sure - right))
    verdict = f"{gap} points too {'high' if sure > right else 'low'}" if gap else "as it should be"
    return f"{right:.0%} of {len(truth)} labels are right, and their mean confidence is {sure:.0%}: {verdict}"
