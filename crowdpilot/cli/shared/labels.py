"""Labels from files: true labels to measure by, and labels or probabilities to train on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.cli.shared.reading_options import check_tasks
from crowdpilot.names import lookup
from crowdpilot.votes import Votes


def read_codes(file: Path, tasks: Names | None, rows: int, classes: Names) -> Codes:
    """The codes of the labels that a file has for these rows, -1 where it has none.

    Rows are found by the name of their task. In a `.npy` file, or if the tasks have no names, row i
    is label i.
    """
    from crowdpilot.io import read_labels

    by_task = read_labels(file)
    if tasks is None or file.suffix == ".npy":
        if len(by_task) != rows:
            raise ValueError(f"{file} has {len(by_task)} labels, expected one for each of {rows} tasks")
        return _to_codes(list(by_task.values()), classes, file)
    by_name = {str(task): label for task, label in by_task.items()}
    codes = _to_codes([by_name.get(str(task)) for task in tasks.tolist()], classes, file)
    if (codes < 0).all():
        check_tasks(file, by_task, tasks)
        raise ValueError(f"{file} has a label for none of the {rows} tasks, such as {str(tasks[0])!r}")
    return codes


def column_names(file: Path) -> Sequence[str]:
    """The columns of a table of labels; none for a `.npy` file."""
    from crowdpilot.io import FORMATS, LABEL_FORMATS
    from crowdpilot.io.detect import parse_source
    from crowdpilot.io.source import Source

    if file.suffix == ".npy":
        return ()
    formats = {name: FORMATS[name] for name in LABEL_FORMATS}
    return parse_source(file, formats, None, Source(file, required=())).names


def read_column(file: Path, column: str | None = None) -> dict[str, Any]:
    """A column by the names of the tasks; that of the labels if no other is named."""
    from crowdpilot.io import read_labels

    values = read_labels(file, columns=None if column is None else {"label": column})
    return {str(task): value for task, value in values.items()}


def read_numbers(
    file: Path, column: str | None, tasks: Sequence[Any], default: float | None = None
) -> Floats:
    """The numbers of a column, (tasks,); the default for a task without one, an error if there is none."""
    names = list(map(str, tasks))
    values: dict[str, Any] = dict.fromkeys(names, default) | read_column(file, column)
    if missing := [name for name in names if values[name] is None]:
        raise ValueError(f"{file} has no {column or 'number'} for task {missing[0]!r}")
    try:
        return np.asarray([float(values[name]) for name in names], np.float64)
    except ValueError as error:
        where = "" if column is None else f" in column {column}"
        raise ValueError(f"{file} has something else than numbers{where} ({error})") from None


def _to_codes(labels: Sequence[Any], classes: Names, file: Path) -> Codes:
    codes, names = lookup(labels, classes), np.asarray(list(map(str, labels)), object)
    if unknown := sorted(set(names[codes < 0]) - {"None", "nan", "-1"}):
        known = ", ".join(map(str, classes[:10]))
        raise ValueError(f"{file} has the label {unknown[0]!r}, which is none of the classes {known}")
    return codes


def as_votes(file: Path, votes: Votes) -> Votes:
    """The labels of a file as the votes of one worker, whose votes are weighted by the probabilities.

    Parameters
    ----------
    file
        `.npy`, in the order of the tasks: labels, (tasks,), or probabilities, (tasks, classes); or a
        table with columns for the task and the label, or for the task and `p_CLASS` for each class.
    votes
        Which name the tasks and classes; they are not used otherwise.
    """
    probs = _probs(file, votes)
    if probs is None:
        codes = read_codes(file, votes.tasks, len(votes.tasks), votes.classes)
        probs = np.eye(len(votes.classes))[codes] * (codes >= 0)[:, None]
    if not (np.isfinite(probs) & (probs >= 0)).all():
        raise ValueError(f"{file} has a probability that is negative or no number")
    task, label = (codes.astype(np.int32) for codes in np.nonzero(probs))
    worker, weight = np.zeros(len(task), np.int32), probs[task, label]
    name = np.asarray([file.name], object)
    return Votes(task, worker, label, votes.tasks, name, votes.classes, weight, gold=votes.gold)


def _probs(file: Path, votes: Votes) -> Floats | None:
    """The probabilities of a file, (tasks, classes) with zeros where it has none; None if it has labels."""
    if file.suffix == ".npy":
        return _from_numpy(file, votes)
    columns, names = [f"p_{name}" for name in votes.classes.tolist()], column_names(file)
    if not any(name.startswith("p_") for name in names):
        return None
    if missing := [column for column in columns if column not in names]:
        raise ValueError(f"{file} has no column {missing[0]}, expected one for each class")
    probs = np.zeros((len(votes.tasks), len(columns)))
    for k, column in enumerate(columns):
        probs[:, k] = read_numbers(file, column, votes.tasks.tolist(), default=0.0)
    return probs


def _from_numpy(file: Path, votes: Votes) -> Floats | None:
    try:
        array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{file}: cannot be read as a numpy file ({error})") from error
    if array.ndim != 2:
        return None
    if array.shape != (expected := (len(votes.tasks), len(votes.classes))):
        raise ValueError(f"{file} has shape {array.shape}, expected {expected} (tasks, classes)")
    probs: Floats = array.astype(np.float64)
    return probs
