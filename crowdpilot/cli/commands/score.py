"""`crowdpilot score`: metrics of labels and probabilities against the truth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdpilot.cli.shared import options
from crowdpilot.cli.shared.options import examples
from crowdpilot.cli.shared.output import print_message, print_table, show_status
from crowdpilot.cli.shared.reading_options import check_tasks

if TYPE_CHECKING:
    from crowdpilot.arrays import Codes, Floats

MAX_SHOWN_CLASSES = 5
COLUMNS = ("measure", "class", "value", "low", "high")

Row = tuple[str, str | None, float, float | None, float | None]

EXAMPLES = examples(
    "score labels.csv truth.csv",
    "score labels.csv truth.csv --json",
)


def score(
    labels: Annotated[Path, typer.Argument(metavar="LABELS", help="File with the label of each task.")],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="File with the true label of tasks.")],
    level: options.Level = 0.95,
    samples: Annotated[int, typer.Option(help="Number of bootstrap samples.")] = 1000,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare LABELS with TRUTH: every measure with its bootstrap interval, and a table of classes.

    Brier score, log-loss and calibration error (ECE) are there if LABELS has a column p_CLASS for
    each class, or at least `confidence`; the rest is then spread evenly over the other classes.
    """
    from crowdpilot.cli.shared.labels import read_column
    from crowdpilot.metrics import LABEL_METRICS, SHOWN_METRICS, interval
    from crowdpilot.names import to_names

    with show_status(f"reading {labels} and {truth}"):
        label_of, truth_of = read_column(labels), read_column(truth)
        check_tasks(labels, label_of, to_names(list(truth_of)))
        tasks = [task for task in truth_of if task in label_of]
        label, answer = [label_of[t] for t in tasks], [truth_of[t] for t in tasks]
        _check_classes(labels, label, truth, answer)
        codes, probs = _probabilities(labels, tasks, label, answer)
    if len(tasks) < len(truth_of):
        print_message(
            f"{len(truth_of) - len(tasks)} of {len(truth_of)} tasks of {truth} have no label and do not count"
        )
    if probs is not None:
        print_message(_compare(codes, probs))
    with show_status("computing intervals"):
        between = partial(interval, level=level, samples=samples, seed=seed)
        rows: list[Row] = [(name, None, *between(f, answer, label)) for name, f in LABEL_METRICS.items()]
        if probs is not None:
            rows += [(name, None, *between(f, codes, probs)) for name, f in SHOWN_METRICS.items()]
        rows += _rows_of_classes(answer, label, between)
    print_table(COLUMNS, rows, as_json=as_json)


def _check_classes(labels: Path, label: list[Any], truth: Path, answer: list[Any]) -> None:
    """Raise if no label is a true label of any task, as it is if classes have other names there."""
    known, true = (list(dict.fromkeys(map(str, names))) for names in (label, answer))
    if not {*known}.intersection(true):
        raise ValueError(
            f"{labels} and {truth} share no class, so that no label could be right; they are called "
            f"{_few(known)} in one and {_few(true)} in the other: rename them"
        )


def _few(names: list[str]) -> str:
    return ", ".join(map(repr, names[:MAX_SHOWN_CLASSES])) + (" …" if len(names) > MAX_SHOWN_CLASSES else "")


def _compare(truth: Codes, probs: Floats) -> str:
    """How many labels are right, and how many should be by their confidence."""
    right, sure = float((probs.argmax(axis=1) == truth).mean()), float(probs.max(axis=1).mean())
    gap = round(100 * abs(sure - right))
    verdict = f"{gap} points too {'high' if sure > right else 'low'}" if gap else "as it should be"
    return f"{right:.0%} of {len(truth)} labels are right, and their mean confidence is {sure:.0%}: {verdict}"


def _rows_of_classes(truth: list[Any], labels: list[Any], between: Callable[..., Any]) -> list[Row]:
    import numpy as np

    from crowdpilot.metrics import per_class

    table = per_class(truth, labels)
    names = [str(name) for name in table.classes]
    rows: list[Row] = [("support", k, int(n), None, None) for k, n in zip(names, table.support, strict=True)]
    for measure in ("precision", "recall", "f1"):
        intervals = np.asarray(between(partial(_measure, measure), truth, labels))  # (3, classes)
        rows += [(measure, k, *values) for k, values in zip(names, intervals.T.tolist(), strict=True)]
    return rows


def _measure(name: str, truth: Any, labels: Any, weight: Any) -> Floats:
    from crowdpilot.metrics import per_class

    values: Floats = getattr(per_class(truth, labels, weight=weight), name)
    return values


def _probabilities(
    path: Path, tasks: list[str], label: list[Any], answer: list[Any]
) -> tuple[Codes, Floats | None]:
    """The truth as codes, and the probabilities that the file has, (tasks, classes)."""
    import numpy as np

    from crowdpilot.cli.shared.labels import column_names, read_numbers
    from crowdpilot.names import encode

    names = column_names(path)
    columns = [name for name in names if name.startswith("p_")]
    codes, classes = encode([*(name[2:] for name in columns), *map(str, label), *map(str, answer)])
    label_codes, true = np.split(codes[len(columns) :], 2)
    if not columns and "confidence" not in names:
        return true, None
    probs = np.zeros((len(tasks), len(classes)))
    for k, name in enumerate(columns):
        probs[:, k] = read_numbers(path, name, tasks)
    if not columns:
        confidence = read_numbers(path, "confidence", tasks)
        probs[:] = (1 - confidence[:, None]) / max(len(classes) - 1, 1)
        probs[np.arange(len(tasks)), label_codes] = confidence
    return true, probs
