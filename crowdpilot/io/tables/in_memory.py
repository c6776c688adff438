"""Votes in memory: data frames, columns, records, triples, nested dicts and matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import need_arrow
from crowdpilot.io.columns import Table, TableError, column_of_names, table_of
from crowdpilot.io.engine import engine
from crowdpilot.io.format import VotesTable
from crowdpilot.io.inference.column_names import find_columns, listed
from crowdpilot.io.plain import NESTED_TYPES
from crowdpilot.io.tables.frames import frame_table, is_frame, library_name, readable_column
from crowdpilot.io.tables.inner_answers import inner_answers
from crowdpilot.io.tables.json_layouts import records_of
from crowdpilot.io.tables.nested_votes import nested_votes
from crowdpilot.names import is_missing, to_names
from crowdpilot.optional_packages import MissingPackageError

EXPECTED = "a path, a stream, a data frame, a dict of columns, records or an array (tasks, workers)"
SCALARS = (str, int, float, type(None))
TRIPLE = ("task", "worker", "label")
SETTLED = "give the three columns as {'task': ..., 'worker': ..., 'label': ...}, or say format='wide'"


def table_in_memory(
    data: Any, columns: Mapping[str, str | None] | None = None, format: str | None = None
) -> Table | VotesTable:
    """The table of anything in memory; the votes themselves where it is clear which value is what.

    Parameters
    ----------
    data
        A data frame of any library, a mapping of columns, `{task: {worker: label}}`, records as dicts,
        triples of task, worker and label, or an array (tasks, workers).
    columns
        The columns that the user has named.
    format
        `"wide"` for a row for each task, where an array may also hold triples; `"peerannot_inverse"`
        for a nested dict with the workers outside.
    """
    if is_frame(data) and library_name(data) not in ("pandas", "polars"):
        need_arrow("such a data frame")
    try:
        return _table(data, columns or {}, format)
    except MissingPackageError:
        raise
    except TableError as error:
        raise ValueError(f"{_kind(data)}: {error}") from error
    except (TypeError, ValueError, OverflowError) as error:
        found = f"{type(data).__module__}.{type(data).__qualname__}"
        raise ValueError(f"{found} is no path and no table of votes, expected {EXPECTED}") from error


def _kind(data: Any) -> str:
    return "the array" if isinstance(data, np.ndarray) else "the table"


def _table(data: Any, columns: Mapping[str, str | None], format: str | None) -> Table | VotesTable:
    if isinstance(data, Table):
        return data
    if is_frame(data):
        return frame_table(data, columns)
    if isinstance(data, np.ndarray):
        return _of_array(data, columns, format)
    if isinstance(data, Mapping):
        is_nested = bool(data) and all(isinstance(inner, Mapping) for inner in data.values())
        if (is_nested or "data" in data) and (records := records_of(data)) is not None:
            return _of_rows(records)
        if is_nested:
            return nested_votes(data, format)
        return _of_columns(data)
    if isinstance(data, (Sequence, Iterator)):
        return _of_rows(list(data))
    raise TypeError("no table")


def _of_columns(columns: Mapping[Any, Any]) -> Table:
    if all(isinstance(value, SCALARS) for value in columns.values()):  # a single record
        return _of_rows([columns] if columns else [])
    if (
        wrong := next((name for name, value in columns.items() if not isinstance(value, Iterable)), None)
    ) is not None:
        raise TableError(f"found {columns[wrong]!r} as column {wrong!r}, expected its values")
    try:
        return table_of({str(name): readable_column(values) for name, values in columns.items()})
    except ValueError as error:  # of different lengths
        raise TableError(str(error)) from error


# Rows ----------------------------------------------------------------------------------------


def _of_rows(rows: list[Any]) -> Table:
    rows = [row._asdict() if hasattr(row, "_asdict") else row for row in rows]
    if all(isinstance(row, Mapping) for row in rows):
        rows = inner.records if (inner := inner_answers(rows)) else rows
        names = dict.fromkeys(str(name) for row in rows for name in row) or dict.fromkeys(TRIPLE)
        texts = [{str(name): value for name, value in row.items()} for row in rows]
        return table_of({name: readable_column([row.get(name) for row in texts]) for name in names})
    has_names = any(isinstance(row, Mapping) for row in rows)
    if wrong := [row for row in rows if not (isinstance(row, Mapping) if has_names else _is_triple(row))]:
        expected = "a dict like the others" if has_names else "a dict, or three values: task, worker, label"
        raise TableError(f"found {str(wrong[0])[:40]}, expected {expected}")
    if isinstance(rows[0], list) and _may_be_matrix(rows):
        raise TableError(f"its rows may be tasks with three workers, or task, worker and label; {SETTLED}")
    values = list(zip(*rows, strict=True))
    return table_of({name: readable_column(list(values[n])) for n, name in enumerate(TRIPLE)})


def _is_triple(row: Any) -> bool:
    return isinstance(row, (tuple, list)) and len(row) == len(TRIPLE)


def _may_be_matrix(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether three columns hold values of one kind, as those of three workers do."""
    columns = [{repr(value) for value in column if _is_label(value)} for column in zip(*rows, strict=True)]
    return all(
        2 * len(column & (columns[n - 1] | columns[n - 2])) >= len(column) for n, column in enumerate(columns)
    )


def _may_be_triples(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first two values are never missing, and name one vote or differ from the third in kind."""
    if not all(_is_label(task) and _is_label(worker) for task, worker, _ in rows):
        return False
    return len({repr(row[:2]) for row in rows}) == len(rows) or not _may_be_matrix(rows)


def _is_label(value: Any) -> bool:
    """Whether it is a value and not one for none: None, NaN, an empty text or a number below zero."""
    if isinstance(value, NESTED_TYPES):
        return True
    if is_missing(value) or value == "":
        return False
    return not (isinstance(value, (int, float)) and value < 0)


# Matrices ------------------------------------------------------------------------------------


def _of_array(
    array: NDArray[Any], columns: Mapping[str, str | None], format: str | None
) -> Table | VotesTable:
    if array.dtype.names:
        return table_of({name: readable_column(array[name].tolist()) for name in array.dtype.names})
    if array.ndim != 2:
        raise TableError(f"it has the shape {array.shape}, expected (tasks, workers)")
    if array.shape[1] == len(TRIPLE) and format is None:
        _check_matrix(array)
    has_vote = _votes_in(array)
    task, worker = np.nonzero(has_vote)
    labels = _whole(array[task, worker])
    tasks, workers = (np.arange(size) for size in array.shape)
    table = table_of(
        {
            "task": column_of_names(task, tasks),
            "worker": column_of_names(worker, workers),
            "label": engine().column(labels),
        }
    )
    described = {"task": "the number of the row", "worker": "the number of the column"}
    return VotesTable(
        table, {name: name for name in table.column_names}, tasks=tasks, workers=workers, described=described,
        name="the array", format="matrix", position=lambda n: f"row {task[n] + 1}",
    )  # fmt: skip


def _check_matrix(array: NDArray[Any]) -> None:
    """Raise if an array of three columns may hold triples of task, worker and label."""
    if len(array) and _may_be_triples(array.tolist()):  # what is masked is None there
        raise TableError(f"its three columns may be workers, or task, worker and label; {SETTLED}")


def check_unnamed_columns(table: Table, *, is_dict: bool) -> None:
    """Raise if columns whose names say nothing may be something else than workers."""
    known, names = find_columns(table.column_names), listed(table.column_names)
    if is_dict and "task" not in known:
        raise ValueError(
            f"the table: {names} may be workers with a label for each task, or tasks with a label of each "
            "worker; if they are workers, say format='wide', else give {task: {worker: label}}"
        )
    if len(table.columns) == len(TRIPLE) and not known:
        rows = list(zip(*(column.values() for column in table.columns), strict=True))
        plain = all(isinstance(value, SCALARS) and _is_label(value) for row in rows for value in row)
        if rows and plain and not _may_be_matrix(rows):
            raise ValueError(f"the table: {names} may be workers, or task, worker and label; {SETTLED}")


def _votes_in(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where there is a vote: neither masked nor empty, NaN or negative."""
    present: NDArray[np.bool_] = ~np.ma.getmaskarray(array)
    values = np.ma.getdata(array)
    if values.dtype.kind in "iuf":
        votes: NDArray[np.bool_] = present & (values >= 0)  # NaN is not
        return votes
    filled = np.asarray([_is_label(value) for value in values.ravel().tolist()], bool)
    present &= filled.reshape(values.shape)
    return present


def _whole(values: NDArray[Any]) -> Any:
    """Labels; of numbers, whole ones."""
    data = np.ma.getdata(values)
    if data.dtype.kind == "f" and not (is_whole := np.isfinite(data) & (data == np.floor(data))).all():
        wrong = data[~is_whole][0]
        raise TableError(
            f"found {wrong:g}, expected whole numbers; shares of classes are read by from_shares"
        )
    return data.astype(np.int64) if data.dtype.kind in "iuf" else to_names(data.tolist())
