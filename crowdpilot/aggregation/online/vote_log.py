"""VoteLog: votes by code in the order of arrival, with insertion, deletion and lookup by task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes
from crowdpilot.growing_arrays import append_rows

Integers = NDArray[Any]  # codes, or rows of a log

MAX_SPARE_DELETED_ROWS = 64  # deleted rows that are kept, beyond as many as there are votes


class VoteLog:
    """Columns of votes that grow, with a linked list from each vote on a task to the one before.

    A vote is added in constant time, and found or deleted in time proportional to the number of votes on
    its task. A deleted row is only marked; when more than half of the rows are deleted, the log is
    compacted, and the order of the others stays. A row number is valid until the next deletion.

    Parameters
    ----------
    columns
        Further numbers of each vote: name and type.

    Examples
    --------
    >>> log = VoteLog()
    >>> _ = log.add([0, 1, 0], [5, 5, 7], [1, 1, 2])
    >>> log.rows_of([0])[0].tolist()
    [2, 0]
    >>> log.delete([log.find(0, 5)])
    >>> log.column("worker").tolist()
    [5, 7]
    """

    def __init__(self, **columns: type) -> None:
        self.task: Codes = np.zeros(0, np.int32)
        self.worker: Codes = np.zeros(0, np.int32)
        self.label: Codes = np.zeros(0, np.int32)  # -1 in a deleted row
        self.previous: Codes = np.zeros(0, np.int32)  # row of the vote before on the same task, -1 if none
        self.last: Codes = np.zeros(0, np.int32)  # row of the last vote on each task, -1 if none
        self.extra: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype) for name, dtype in columns.items()}
        self.n_deleted = 0

    def __len__(self) -> int:
        return len(self.task) - self.n_deleted

    def add(self, task: Any, worker: Any, label: Any, **extra: Any) -> int:
        """Append votes; the row of the first of them, which the others follow."""
        first = len(self.task)
        top = task[0] if len(task) == 1 else int(np.max(task, initial=-1))
        if top >= len(self.last):
            self.last = append_rows(self.last, np.full(top + 1 - len(self.last), -1))
        self.previous = append_rows(self.previous, self._link(task, first))
        self.task = append_rows(self.task, task)
        self.worker = append_rows(self.worker, worker)
        self.label = append_rows(self.label, label)
        for name, column in self.extra.items():
            self.extra[name] = append_rows(column, extra[name])
        return first

    def _link(self, task: Any, first: int) -> Any:
        """For each new vote the row of the one before on the same task; `last` is updated."""
        if len(task) == 1:
            earlier = self.last[task[0]]
            self.last[task[0]] = first
            return [earlier]
        order = np.argsort(task, kind="stable")
        by_task, rows = np.asarray(task)[order], first + order
        begins = np.diff(by_task, prepend=-1) != 0
        previous = np.empty(len(order), np.int32)
        previous[order] = np.where(begins, self.last[by_task], np.roll(rows, 1))
        ends = np.roll(begins, -1)
        self.last[by_task[ends]] = rows[ends]
        return previous

    def rows_of(self, tasks: Any) -> tuple[Integers, Integers]:
        """The rows of all votes on some tasks, and for each row the position of its task in `tasks`."""
        if len(tasks) == 1:
            rows_of_task = self._walk(int(self.last[tasks[0]]))
            return np.array(rows_of_task, np.intp), np.zeros(len(rows_of_task), np.intp)
        row = self.last[tasks].astype(np.intp)
        position = np.flatnonzero(row >= 0)
        row = row[position]
        steps = [(row, position)]
        while len(row):
            row = self.previous[row].astype(np.intp)
            more = row >= 0
            row, position = row[more], position[more]
            steps.append((row, position))
        rows, positions = zip(*steps, strict=True)
        return np.concatenate(rows), np.concatenate(positions)

    def _walk(self, row: int) -> list[int]:
        rows = []
        while row >= 0:
            rows.append(row)
            row = int(self.previous[row])
        return rows

    def find(self, task: int, worker: int) -> int:
        """The row of the last vote of a worker on a task, -1 if there is none."""
        row = int(self.last[task]) if task < len(self.last) else -1
        while row >= 0 and self.worker[row] != worker:
            row = int(self.previous[row])
        return row

    def delete(self, rows: Iterable[int]) -> None:
        """Delete votes, each by its row."""
        for row in rows:
            self._unlink(row)
            self.label[row] = -1
            self.n_deleted += 1
        if self.n_deleted > MAX_SPARE_DELETED_ROWS + len(self):
            self._compact()

    def _unlink(self, row: int) -> None:
        task = self.task[row]
        after = int(self.last[task])
        if after == row:
            self.last[task] = self.previous[row]
            return
        while (earlier := int(self.previous[after])) != row:
            after = earlier
        self.previous[after] = self.previous[row]

    def _compact(self) -> None:
        """Remove the deleted rows."""
        kept = self.label >= 0
        new_row = np.append(np.cumsum(kept) - 1, -1).astype(np.int32)  # -1 stays -1
        self.previous, self.last = new_row[self.previous[kept]], new_row[self.last]
        for name in ("task", "worker", "label"):
            setattr(self, name, getattr(self, name)[kept])
        self.extra = {name: column[kept] for name, column in self.extra.items()}
        self.n_deleted = 0

    def column(self, name: str) -> NDArray[Any]:
        """A copy of one column, without deleted rows."""
        column = self.extra[name] if name in self.extra else getattr(self, name)
        return column[self.label >= 0] if self.n_deleted else column.copy()
