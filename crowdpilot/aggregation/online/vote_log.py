"""Book: votes by number that come and go, and are found again by their task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes
from crowdpilot.growing_arrays import grown

Rows = NDArray[Any]  # whole numbers

SPARE = 64  # rows without a vote that do no harm


class Book:
    """Columns that grow, and through them a chain from each vote on a task to the one before.

    A vote is added in time that depends on nothing, found and dropped in time that depends on the
    number of votes on its task. Rows of votes that were dropped are left empty, and given up when they
    are as many as the others; the others stay in the order in which they came. A row is known by its
    number until the next drop.

    Parameters
    ----------
    columns
        Further numbers of each vote: name and type.

    Examples
    --------
    >>> book = Book()
    >>> _ = book.add([0, 1, 0], [5, 5, 7], [1, 1, 2])
    >>> book.of([0])[0].tolist()
    [2, 0]
    >>> book.drop([book.find(0, 5)])
    >>> book.kept("worker").tolist()
    [5, 7]
    """

    def __init__(self, **columns: type) -> None:
        self.task: Codes = np.zeros(0, np.int32)
        self.worker: Codes = np.zeros(0, np.int32)
        self.label: Codes = np.zeros(0, np.int32)  # -1 where there is no vote any more
        self.before: Codes = np.zeros(0, np.int32)  # the row of the last vote on the same task, -1 if none
        self.last: Codes = np.zeros(0, np.int32)  # the row of the last vote on each task, -1 if none
        self.more: dict[str, NDArray[Any]] = {name: np.zeros(0, kind) for name, kind in columns.items()}
        self.empty = 0

    def __len__(self) -> int:
        return len(self.task) - self.empty

    def add(self, task: Any, worker: Any, label: Any, **more: Any) -> int:
        """Votes that came last; the row of the first of them, which others follow."""
        first = len(self.task)
        top = task[0] if len(task) == 1 else int(np.max(task, initial=-1))
        if top >= len(self.last):
            self.last = grown(self.last, np.full(top + 1 - len(self.last), -1))
        self.before = grown(self.before, self._chain(task, first))
        self.task = grown(self.task, task)
        self.worker = grown(self.worker, worker)
        self.label = grown(self.label, label)
        for name, column in self.more.items():
            self.more[name] = grown(column, more[name])
        return first

    def _chain(self, task: Any, first: int) -> Any:
        """For each new vote the one before on the same task; the new ones are the last from now on."""
        if len(task) == 1:
            earlier = self.last[task[0]]
            self.last[task[0]] = first
            return [earlier]
        order = np.argsort(task, kind="stable")
        by_task, rows = np.asarray(task)[order], first + order
        begins = np.diff(by_task, prepend=-1) != 0
        before = np.empty(len(order), np.int32)
        before[order] = np.where(begins, self.last[by_task], np.roll(rows, 1))
        ends = np.roll(begins, -1)
        self.last[by_task[ends]] = rows[ends]
        return before

    def of(self, tasks: Any) -> tuple[Rows, Rows]:
        """The rows of all votes on some tasks, and for each the place of its task among these."""
        if len(tasks) == 1:
            walked = self._walk(int(self.last[tasks[0]]))
            return np.array(walked, np.intp), np.zeros(len(walked), np.intp)
        row = self.last[tasks].astype(np.intp)
        place = np.flatnonzero(row >= 0)
        row = row[place]
        found = [(row, place)]
        while len(row):
            row = self.before[row].astype(np.intp)
            more = row >= 0
            row, place = row[more], place[more]
            found.append((row, place))
        rows, places = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(places)

    def _walk(self, row: int) -> list[int]:
        rows = []
        while row >= 0:
            rows.append(row)
            row = int(self.before[row])
        return rows

    def find(self, task: int, worker: int) -> int:
        """The row of the last vote of a worker on a task, -1 if there is none."""
        row = int(self.last[task]) if task < len(self.last) else -1
        while row >= 0 and self.worker[row] != worker:
            row = int(self.before[row])
        return row

    def drop(self, rows: Iterable[int]) -> None:
        """Take votes back, each by its row."""
        for row in rows:
            self._unchain(row)
            self.label[row] = -1
            self.empty += 1
        if self.empty > SPARE + len(self):
            self._close_up()

    def _unchain(self, row: int) -> None:
        task = self.task[row]
        after = int(self.last[task])
        if after == row:
            self.last[task] = self.before[row]
            return
        while (earlier := int(self.before[after])) != row:
            after = earlier
        self.before[after] = self.before[row]

    def _close_up(self) -> None:
        """Give up the rows without a vote."""
        full = self.label >= 0
        new = np.append(np.cumsum(full) - 1, -1).astype(np.int32)  # what is -1 stays so
        self.before, self.last = new[self.before[full]], new[self.last]
        for name in ("task", "worker", "label"):
            setattr(self, name, getattr(self, name)[full])
        self.more = {name: column[full] for name, column in self.more.items()}
        self.empty = 0

    def kept(self, name: str) -> NDArray[Any]:
        """A copy of one column, without rows that are empty."""
        column = self.more[name] if name in self.more else getattr(self, name)
        return column[self.label >= 0] if self.empty else column.copy()
