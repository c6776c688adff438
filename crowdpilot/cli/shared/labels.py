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
    from crowdpilot.io import FORMATS, LABEL_FORMATS, read_labels
    from crowdpilot.io.detect import parse_source

    columns = [f"p_{name}" for name in votes.classes.tolist()]
    names = parse_source(file, {name: FORMATS[name] for name in LABEL_FORMATS}, None, {}).names
    if not any(name.startswith("p_") for name in names):
        return None
    if missing := [column for column in columns if column not in names]:
        raise ValueError(f"{file} has no column {missing[0]}, expected one for each class")
    probs = np.zeros((len(votes.tasks), len(columns)))
    for k, column in enumerate(columns):
        by_task = {str(t): p for t, p in read_labels(file, columns={"label": column}).items()}
        try:
            probs[:, k] = [float(by_task.get(str(task), 0)) for task in votes.tasks.tolist()]
        except ValueError as error:
            raise ValueError(f"{file} has something else than numbers in {column} ({error})") from None
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
