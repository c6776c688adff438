"""Labels as a table (examples, annotators) with nothing where there is none, as cleanlab takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.aggregation.classifier_probs import set_classes
from crowdpilot.arrays import Floats, Names
from crowdpilot.data_frames import FrameLibrary, library_of
from crowdpilot.io import as_votes
from crowdpilot.io.inference.column_names import candidates, find_columns
from crowdpilot.io.tables.frames import is_frame
from crowdpilot.names import Encoded, encode, is_missing, to_names
from crowdpilot.votes import Votes

LONG_ROLES = ("task", "worker", "label")  # of a table with a row for each label
MISSING_TEXTS = ("", "nan", "NaN", "<NA>")


class Labels(NamedTuple):
    """Votes of a table, and what its rows are called.

    Parameters
    ----------
    votes
        Examples are tasks in their order; every annotator is a worker, also one without a label.
    index
        That of a pandas frame, or the names of the examples.
    frames
        The library of the table.
    """

    votes: Votes
    index: Any
    frames: FrameLibrary


def read_wide_labels(labels: Any, classes: Sequence[Any] | None = None) -> Labels:
    """The votes of a table (examples, annotators), or those of `crowdpilot.read` if it is no such table.

    Parameters
    ----------
    labels
        A data frame of pandas or polars, an array or a list of lists; an empty cell (NaN, None, a number
        below 0) is no label. A frame with columns for task, worker and label holds one label in each row.
    classes
        All classes in the order wanted; otherwise those that occur, in natural order.
    """
    if hasattr(labels, "to_frame"):  # a Series: one annotator
        labels = labels.to_frame()
    if isinstance(labels, list) and labels and all(isinstance(row, list) for row in labels):
        labels = _of_lists(labels)
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        rows, columns = (np.arange(size) for size in labels.shape)
        return Labels(_to_votes(labels, rows, columns, classes), rows, "pandas")
    if not is_frame(labels) or len(find_columns(_names(labels), LONG_ROLES)) == len(LONG_ROLES):
        votes = as_votes(labels)
        votes = votes if classes is None else set_classes(votes, to_names(list(classes)))
        return Labels(votes, votes.tasks, library_of(labels))
    return _of_frame(labels, classes)


def _of_lists(rows: list[list[Any]]) -> Names:
    if len(lengths := {len(row) for row in rows}) > 1:
        raise ValueError(
            f"the rows of labels have {min(lengths)} to {max(lengths)} cells; give one per annotator"
        )
    return np.asarray([[*row, None] for row in rows], object)[:, :-1]


def _names(frame: Any) -> list[str]:
    return [str(name) for name in frame.columns]


def _of_frame(frame: Any, classes: Sequence[Any] | None) -> Labels:
    names = _names(frame)
    named = candidates(names, "task")[:1]
    columns = [n for n, name in enumerate(names) if name not in named]
    is_pandas = hasattr(frame, "iloc")
    cells = np.column_stack([_cells(frame.iloc[:, n] if is_pandas else frame[names[n]]) for n in columns])
    if named:
        key = names.index(named[0])
        index = to_names((frame.iloc[:, key] if is_pandas else frame[named[0]]).to_list())
    else:
        index = frame.index if is_pandas else np.arange(len(frame))
    tasks = to_names(list(index)) if len(set(map(str, index))) == len(frame) else np.arange(len(frame))
    workers = to_names(list(frame.columns))[columns]
    return Labels(_to_votes(cells, tasks, workers, classes), index, library_of(frame))


def _cells(column: Any) -> Names:
    """The cells of a column of pandas or polars: numbers with NaN, or objects."""
    if getattr(column.dtype, "kind", "O") in "iuf":  # of pandas
        numbers: Floats = column.to_numpy(np.float64, na_value=np.nan)
        return numbers
    return np.asarray([*column.to_list(), None], object)[:-1]


def _to_votes(cells: Names, tasks: Names, workers: Names, classes: Sequence[Any] | None) -> Votes:
    """The votes of cells (examples, annotators)."""
    if not cells.size:
        raise ValueError("the table of labels is empty, expected (examples, annotators)")
    if cells.dtype.kind in "iuf":
        task, worker = np.nonzero(cells >= 0)  # NaN is not
        values = cells[task, worker]
        if (wrong := values[values != np.floor(values)]).size:
            raise ValueError(f"found the label {wrong[0]:g}, expected whole numbers or names of classes")
        label = encode(values.astype(np.int64))
    else:
        every = encode(to_names([_label(value) for value in cells.ravel().tolist()]))
        codes = every.codes.reshape(cells.shape)
        task, worker = np.nonzero(codes >= 0)
        label = Encoded(codes[task, worker], every.names)
    rows, columns = task.astype(np.int32), worker.astype(np.int32)
    return Votes.from_codes(
        Encoded(rows, tasks), Encoded(columns, workers), label, classes=classes, repeats="all"
    )


def _label(value: Any) -> Any:
    """A label, None if it is missing; whole numbers are such whatever their type."""
    if is_missing(value) or str(value) in MISSING_TEXTS:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return None if value < 0 else int(value) if value == int(value) else value
    return value


def name_classes(votes: Votes, columns: int) -> Votes:
    """The votes with a class for each of so many columns without names.

    Labels that are whole numbers are the numbers of columns, as in cleanlab; others are in natural order.
    """
    names = votes.classes
    if columns < 2:
        raise ValueError(
            "pred_probs have one column, expected one for each class: np.column_stack([1 - p, p])"
        )
    if len(names) and names.dtype.kind in "iu" and 0 <= names.min() <= names.max() < columns:
        return set_classes(votes, np.arange(columns))
    if len(names) == columns:
        return votes
    shown = ", ".join(map(str, names[:10].tolist()))
    raise ValueError(
        f"pred_probs have {columns} columns, but the labels have {len(names)} classes ({shown}); name all "
        "with classes=, in the order of the columns, or give a data frame with a column for each class"
    )
