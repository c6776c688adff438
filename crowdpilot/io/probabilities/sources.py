"""Where class probabilities come from: arrays, mappings, tables in memory, and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Floats, Names
from crowdpilot.io.columns import Table, table_of
from crowdpilot.io.probabilities.class_probs import WHOSE, ClassProbs
from crowdpilot.io.probabilities.layouts import has_class_columns, probs_in_table
from crowdpilot.io.sources.opening import PATHS
from crowdpilot.io.table_columns import read_whole_table
from crowdpilot.io.tables.frames import frame_table, is_frame, readable_column
from crowdpilot.names import to_names

NUMPY_SUFFIXES = (".npy", ".npz")


def parse_probs(source: Any, classes: Names | None = None) -> ClassProbs:
    """Probabilities as a source has them; see `read_probs` for what it may be.

    Parameters
    ----------
    source
        Of any kind.
    classes
        Those that are known, by which columns are found; if not given, every column but the task is a class.
    """
    if isinstance(source, ClassProbs):
        return source
    if isinstance(source, PATHS) and Path(source).suffix.lower() in NUMPY_SUFFIXES:
        return _of_numpy(Path(source))
    if isinstance(source, PATHS) or callable(getattr(source, "read", None)):
        return _of_file(source, classes)
    if is_frame(source):
        return _of_frame(source, classes)
    if isinstance(source, Mapping):
        is_table = has_class_columns(source, classes)
        return probs_in_table(_of_columns(source), classes) if is_table else _of_mapping(source)
    if isinstance(source, Sequence) and len(source) and isinstance(source[0], Mapping):
        return probs_in_table(_of_records(source), classes)
    return ClassProbs(_to_floats(source, WHOSE))


def _to_floats(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} are no array of numbers (tasks, classes); give one for each class"
        ) from None


# In memory -----------------------------------------------------------------------------------


def _of_frame(frame: Any, classes: Names | None) -> ClassProbs:
    if not hasattr(frame, "iloc"):
        return probs_in_table(frame_table(frame, {}), classes)
    frame = frame.to_frame() if frame.ndim == 1 else frame
    names = [str(name) for name in frame.columns]
    table = Table(names, [readable_column(frame.iloc[:, n]) for n in range(len(names))])
    found = probs_in_table(table, classes)
    if found.tasks is not None:
        return found
    tasks = to_names(frame.index.tolist())
    is_counted = frame.index.name is None and tasks.tolist() == list(range(len(tasks)))
    return replace(found, tasks=tasks, are_row_numbers=is_counted)


def _of_columns(columns: Mapping[Any, Any]) -> Table:
    return table_of({str(name): readable_column(values) for name, values in columns.items()})


def _of_records(records: Sequence[Mapping[Any, Any]]) -> Table:
    names = list(dict.fromkeys(str(name) for record in records for name in record))
    texts = [{str(name): value for name, value in record.items()} for record in records]
    return table_of({name: readable_column([record.get(name) for record in texts]) for name in names})


def _of_mapping(rows: Mapping[Any, Any]) -> ClassProbs:
    """A row for each task: a sequence in the order of the classes, or probabilities by class."""
    tasks, values = to_names(list(rows)), list(rows.values())
    kinds = [(isinstance(row, Mapping), len(row) if hasattr(row, "__len__") else 0) for row in values]
    if all(is_named for is_named, _ in kinds):
        classes = list(dict.fromkeys(str(name) for row in values for name in row))
        texts = [{str(name): p for name, p in row.items()} for row in values]
        values = [[row.get(name, 0.0) for name in classes] for row in texts]
        return ClassProbs(_to_floats(values, WHOSE), tasks, to_names(classes))
    if other := [n for n, kind in enumerate(kinds) if kind != kinds[0]]:
        raise ValueError(
            f"{WHOSE} of tasks {str(tasks[0])!r} and {str(tasks[other[0]])!r} differ in length or kind; give "
            "one number for each class"
        )
    return ClassProbs(_to_floats(values, WHOSE), tasks)


# Files ---------------------------------------------------------------------------------------


def _of_file(origin: Any, classes: Names | None) -> ClassProbs:
    known = [] if classes is None else [str(name) for name in classes.tolist()]
    found = read_whole_table(origin, known)
    return probs_in_table(found.table, classes, f"{found.name}: {WHOSE}", is_text=found.numbers_as_text)


def _of_numpy(file: Path) -> ClassProbs:
    """An array of a .npy file; of a .npz file the one of two axes, and `tasks` and `classes` beside it."""
    try:
        loaded = np.load(file, allow_pickle=False)
        arrays = dict(loaded) if isinstance(loaded, Mapping) else {"probs": loaded}
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise ValueError(f"{file}: cannot be read as a numpy file ({reason})") from error
    tables = [name for name, array in arrays.items() if array.ndim == 2] or list(arrays)[:1]
    if len(tables) != 1:
        raise ValueError(f"{file} has {len(tables)} arrays of two axes, expected one: {', '.join(tables)}")
    tasks, classes = (
        to_names(arrays[key].tolist()) if key in arrays else None for key in ("tasks", "classes")
    )
    name = f"{file}: {WHOSE}"
    return ClassProbs(_to_floats(arrays[tables[0]], name), tasks, classes, name)
