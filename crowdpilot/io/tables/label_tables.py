"""Tables of labels with their probabilities: read once, as arrays, however many tasks there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.io.columns import NumberError
from crowdpilot.io.detect import read_numpy
from crowdpilot.io.format import VotesTable
from crowdpilot.io.inference.column_roles import resolve
from crowdpilot.io.sources.opening import PATHS
from crowdpilot.io.table_columns import read_whole_table
from crowdpilot.io.votes_tables import task_labels
from crowdpilot.names import encode, to_names


@dataclass(frozen=True, eq=False)
class LabelTable:
    """One label for each task, and the other columns of its table.

    Parameters
    ----------
    name
        Of the file.
    tasks
        As texts, (tasks,).
    codes, labels
        The label of each task as a code, and the labels that occur.
    left_out
        How many rows have no label.
    """

    name: str
    tasks: Names
    codes: Codes
    labels: Names
    left_out: int
    table: VotesTable | None  # none of a numpy file
    rows: Codes  # (tasks,) the row of each task in the table

    @property
    def columns(self) -> Sequence[str]:
        """The names of all columns."""
        return () if self.table is None else self.table.table.column_names

    @property
    def rows_read(self) -> int:
        """How many rows the table has."""
        return len(self.tasks) if self.table is None else len(self.table.table)

    def numbers(self, column: str) -> Floats:
        """The numbers of a column, (tasks,); NaN where there is none."""
        if self.table is None:
            raise ValueError(f"{self.name} has no column {column}")
        try:
            return self.table.table[column].floats()[self.rows]
        except NumberError as error:
            raise ValueError(
                f"{self.name} has something else than numbers in column {column} ({error})"
            ) from None


def read_label_table(source: Any) -> LabelTable:
    r"""The labels of a file or stream: a table with a row for each task, or a numpy file.

    Examples
    --------
    >>> from io import StringIO
    >>> table = read_label_table(StringIO("task,label,confidence\nowl,bird,0.9\neel,fish,0.8\n"))
    >>> table.tasks.tolist(), table.labels[table.codes].tolist(), table.numbers("confidence").tolist()
    (['owl', 'eel'], ['bird', 'fish'], [0.9, 0.8])
    """
    if isinstance(source, PATHS) and Path(source).suffix == ".npy":
        by_task = read_numpy(Path(source))
        codes, labels = encode(list(by_task.values()))
        tasks = _texts(to_names(list(by_task)))
        return LabelTable(str(source), tasks, codes, labels, 0, None, np.arange(len(codes), dtype=np.int32))
    found = read_whole_table(source)
    try:
        roles = resolve(found.table.column_names, {}, content=found.table.select, required=("task",)).columns
    except ValueError as error:
        raise found.error(str(error)) from error
    found = replace(found, roles=roles)
    tasks, codes, labels, rows, left_out = task_labels(found)
    return LabelTable(found.name, _texts(tasks), codes, labels, left_out, found, rows)


def _texts(names: Names) -> Names:
    texts = np.empty(len(names), object)
    texts[:] = [*map(str, names.tolist())]
    return texts
