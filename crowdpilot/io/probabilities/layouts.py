"""Tables of class probabilities: a column for each class, or a row for each task and class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats, Names, has_repeats
from crowdpilot.io.columns import Column, NumberError, Table, encode_column
from crowdpilot.io.inference.column_names import WEAK_ALIASES, candidates, listed, name_key
from crowdpilot.io.probabilities.class_probs import WHOSE, ClassProbs
from crowdpilot.names import Encoded, to_names

PREFIXED = re.compile(r"(?:p|prob|proba|probability|conf)_(.+)", re.IGNORECASE | re.DOTALL)
PROBABILITY_KEYS = ("prob", "proba", "probability", "p", "score", "confidence", "conf", "value", "weight")
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")  # of the index of pandas in a file


def has_class_columns(names: Iterable[Any], classes: Names | None) -> bool:
    """Whether the keys of a mapping name columns, `p_CLASS` or the classes and the task, and no tasks."""
    texts = {name for name in names if isinstance(name, str)}
    prefixed = {found[1] for name in texts if (found := PREFIXED.fullmatch(name))}
    if classes is None:
        return bool(prefixed)
    known = {str(name) for name in classes.tolist()}
    return bool(prefixed & known) or texts == known or (known <= texts and bool(candidates(texts, "task")))


def probs_in_table(
    table: Table, classes: Names | None, name: str = WHOSE, *, is_text: bool = False
) -> ClassProbs:
    """The probabilities in a table.

    Parameters
    ----------
    table
        With a column for each class, `p_CLASS` or `CLASS`, or with columns for the task, the class and the
        probability. Without a column for the task, rows are in the order of the tasks.
    classes
        Those that are known; None if every column but the task is one.
    name
        How errors call the probabilities.
    is_text
        Numbers may be written as text.
    """
    columns = _class_columns(table, classes)
    task = _task_column(table.column_names, [*columns.values()])
    if not columns and _are_counted(table.column_names, task, classes):
        columns = {column: column for column in table.column_names if column != task}
        classes_found = None  # columns are in the order of the classes
    elif not columns:
        return _of_long(table, task, classes, name)
    else:
        classes_found = to_names(list(columns))
    values = np.column_stack([_numbers(table[column], column, name) for column in columns.values()])
    if task is None:
        return ClassProbs(values, None, classes_found, name)
    codes, names = encode_column(table[task], is_text)
    if (codes < 0).any():
        raise ValueError(f"{name} have no task in row {int(np.argmax(codes < 0)) + 1}; name it in {task!r}")
    tasks = names[codes]
    is_counted = task in INDEX_NAMES and tasks.tolist() == list(range(len(tasks)))
    return ClassProbs(values, tasks, classes_found, name, are_row_numbers=is_counted)


def _are_counted(names: Sequence[str], task: str | None, classes: Names | None) -> bool:
    """Whether columns are only numbered, one for each class."""
    rest = [name for name in names if name != task]
    return classes is not None and rest == [str(n) for n in range(len(classes))]


def _class_columns(table: Table, classes: Names | None) -> dict[str, str]:
    """The column of each class: those with a prefix, else those called like a known class."""
    names = table.column_names
    prefixed = {found[1]: name for name in names if (found := PREFIXED.fullmatch(name))}
    if classes is None:
        task = _task_column(names, list(prefixed.values()))
        return prefixed or {name: name for name in names if name != task}
    known = [str(name) for name in classes.tolist()]
    if any(name in prefixed for name in known):
        return prefixed
    called = {name: name for name in known if name in names}
    return _with_new_classes(table, called) if called else {}


def _with_new_classes(table: Table, called: dict[str, str]) -> dict[str, str]:
    """Other columns of numbers are classes too, if all sum to one and the known ones alone do not."""
    task = _task_column(table.column_names, list(called))
    others = [name for name in table.column_names if name not in called and name != task]
    numbers = [column for name in others if (column := _numbers_or_none(table[name])) is not None]
    if not others or len(numbers) < len(others):
        return called
    alone = sum(_numbers(table[name], name, WHOSE) for name in called)
    if np.allclose(alone, 1, atol=0.05) or not np.allclose(alone + sum(numbers), 1, atol=0.05):
        return called
    return called | {name: name for name in others}


def _task_column(names: Sequence[str], taken: Sequence[str]) -> str | None:
    free = [name for name in names if name not in taken]
    index = [name for name in free if name in INDEX_NAMES]
    found = [*candidates(free, "task"), *candidates(free, "task", WEAK_ALIASES), *index]
    return found[0] if found else None


def _of_long(table: Table, task: str | None, classes: Names | None, name: str) -> ClassProbs:
    """A row for each task and class; a class without a row has the probability zero."""
    rest = [column for column in table.column_names if column != task]
    label = [*candidates(rest, "label"), *candidates(rest, "label", WEAK_ALIASES)]
    by_key = {name_key(column): column for column in rest if column not in label[:1]}
    prob = [by_key[key] for key in PROBABILITY_KEYS if key in by_key]
    tasks = None if task is None else encode_column(table[task], True)
    if tasks is None or not label or not prob or not has_repeats(tasks.codes):
        what = "are labels" if label else f"have the columns {listed(table.column_names)}"
        example = "" if classes is None else f": p_{classes[0]} and so on"
        raise ValueError(f"{name} {what}, expected a column p_CLASS for each class{example}")
    probs = _numbers(table[prob[0]], prob[0], name)
    return _pivot(tasks, encode_column(table[label[0]], True), probs, name)


def _pivot(task: Encoded, label: Encoded, probs: Floats, name: str) -> ClassProbs:
    if (wrong := (task.codes < 0) | (label.codes < 0)).any():
        raise ValueError(f"{name} have no task or no class in row {int(np.argmax(wrong)) + 1}")
    cells = task.codes.astype(np.int64) * len(label.names) + label.codes
    if has_repeats(cells):
        row = int(np.setdiff1d(np.arange(len(cells)), np.unique(cells, return_index=True)[1])[0])
        both = f"task {str(task.names[task.codes[row]])!r} and class {str(label.names[label.codes[row]])!r}"
        raise ValueError(f"{name} have two rows for {both}; keep one")
    values = np.zeros((len(task.names), len(label.names)))
    values[task.codes, label.codes] = probs
    return ClassProbs(values, task.names, label.names, name)


def _numbers(column: Column, name: str, whose: str) -> Floats:
    try:
        return column.floats()
    except NumberError as error:
        raise ValueError(
            f"{whose}: {error} in column {name!r}, row {error.row + 1}, expected a number"
        ) from None


def _numbers_or_none(column: Column) -> Floats | None:
    try:
        return column.floats()
    except ValueError:
        return None
