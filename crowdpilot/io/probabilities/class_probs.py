"""`ClassProbs`: probabilities as a source has them, and their rows and columns in the order wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.io.probabilities.checks import check_probs
from crowdpilot.names import encode, lookup

MAX_SHOWN_CLASSES = 6
WHOSE = "the classifier's probabilities"


@dataclass(frozen=True, eq=False)
class ClassProbs:
    """Probabilities as a source has them.

    Parameters
    ----------
    values
        (rows, columns).
    tasks
        The task of each row; None if rows are in the order of the tasks.
    classes
        The class of each column; None if columns are in the order of the classes.
    name
        How errors call them.
    are_row_numbers
        The tasks are the numbers of the rows, from 0, and may mean no more than their order.
    """

    values: Floats
    tasks: Names | None = None
    classes: Names | None = None
    name: str = WHOSE
    are_row_numbers: bool = False

    def align(self, tasks: Names, classes: Names) -> Floats:
        """The probabilities of these tasks and classes, (tasks, classes); each row sums to one."""
        values = self.values if self.classes is None else self._select_columns(classes)
        rows = self._rows(tasks)
        if values.shape != (shape := (len(tasks) if rows is None else len(values), len(classes))):
            raise ValueError(self._shape_problem(values.shape, shape, classes))
        return check_probs(values if rows is None else values[rows], tasks, classes, self.name)

    def in_order_of(self, tasks: Names) -> bool:
        """Whether the rows are those of the tasks by their order alone, not by name."""
        return self._rows(tasks) is None

    def _select_columns(self, classes: Names) -> Floats:
        found = lookup(classes, self.classes)
        if len(classes) == 2 and (found >= 0).sum() == 1:
            known = self.values[:, found.max()]
            other = known if np.isnan(known).all() else 1 - known
            return np.column_stack([known if code >= 0 else other for code in found])
        if (found < 0).any():
            lost = classes[int(np.argmax(found < 0))]
            raise ValueError(
                f"{self.name} have no column p_{lost} or {lost}, expected one for each class; "
                "of a class that the classifier does not know, give zeros"
            )
        return self.values[:, found]

    def _rows(self, tasks: Names) -> Codes | None:
        """The row of each task; None if they are in its order."""
        if self.tasks is None:
            return None
        rows = lookup(tasks, self.tasks)
        missing = np.flatnonzero(rows < 0)
        if self.are_row_numbers and len(missing):
            return None
        if len(missing):
            some = f"{len(missing)} of {len(tasks)} tasks, such as" if len(missing) > 1 else "task"
            raise ValueError(
                f"{self.name} have no row for {some} {str(tasks[missing[0]])!r}"
                f"{self._other_names(tasks)}; add one for each task"
            )
        self._check_repeats(self.tasks)
        return rows

    def _other_names(self, tasks: Names) -> str:
        if self.tasks is None or not len(self.tasks) or (lookup(tasks, self.tasks) >= 0).any():
            return ""
        return f", but for tasks such as {str(self.tasks[0])!r}"

    def _check_repeats(self, tasks: Names) -> None:
        """Raise if two rows of a task differ; rows that are the same are one."""
        codes = encode([str(name) for name in tasks.tolist()]).codes
        last = np.zeros(codes.max(initial=-1) + 1, np.int64)
        last[codes] = np.arange(len(codes))
        other = (self.values != self.values[last[codes]]) & ~np.isnan(self.values)
        if other.any():
            twice = str(tasks[int(np.argmax(other.any(axis=1)))])
            raise ValueError(f"{self.name} have several rows for task {twice!r} that differ; keep one")

    def _shape_problem(self, found: tuple[int, ...], expected: tuple[int, int], classes: Names) -> str:
        names = ", ".join(map(str, classes[:MAX_SHOWN_CLASSES].tolist()))
        more = ", …" if len(classes) > MAX_SHOWN_CLASSES else ""
        problem = f"{self.name} have shape {found}, expected (tasks, classes) {expected}"
        if len(classes) == 2 and found in ((expected[0],), (expected[0], 1)):
            return (
                f"{self.name} have one number for each task; if p is that of {str(classes[1])!r}, give both "
                "classes: np.column_stack([1 - p, p])"
            )
        if len(found) == 3:
            return f"{problem}; of several classifiers, give the mean"
        if len(found) == 2 and found[1] != expected[1]:
            return f"{problem}, the classes {names}{more}; name all classes, or the columns by their classes"
        if len(found) == 2:
            return f"{problem}; give a row for each task in the order of the votes, or rows by task"
        return problem
