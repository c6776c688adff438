"""y to votes: `Votes`, a matrix (tasks, workers) or plain labels, aligned with the rows of X."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Names
from crowdpilot.io import as_votes
from crowdpilot.io.inference.column_names import find_columns
from crowdpilot.learning.data.batches import Rows
from crowdpilot.names import lookup, names_in_index, to_names
from crowdpilot.votes import Votes

NO_VOTE = -1


def votes_on(
    rows: Rows,
    y: Any,
    classes: Sequence[Any] | None = None,
    tasks: Sequence[Any] | Names | None = None,
    x: Any = None,
) -> Votes:
    """Votes on the rows of `x`, whose tasks are named by `tasks` or by x itself; see `to_votes`."""
    is_table = hasattr(y, "columns") and not isinstance(y, Votes) and _has_votes(list(map(str, y.columns)))
    y = as_votes(y) if is_table else y
    names = find_tasks(rows, x, y) if tasks is None else tasks
    names = numbered(y, len(rows)) if is_table and names is None else names
    if isinstance(y, Votes) and names is not None:
        y = align(y, names)
    elif isinstance(y, Votes) and len(y.tasks) == len(rows) and _are_shuffled_numbers(y, len(rows)):
        raise ValueError(
            f"the tasks of y are numbered 0 to {len(rows) - 1}, but not in this order: if row i of X is task "
            "i give tasks=range(len(X)), if rows are in the order of y give tasks=y.tasks"
        )
    return to_votes(y, len(rows), classes)


def _are_shuffled_numbers(votes: Votes, rows: int) -> bool:
    numbers = numbered(votes, rows)
    return numbers is not None and list(map(str, votes.tasks.tolist())) != list(map(str, numbers))


def _has_votes(columns: list[str]) -> bool:
    """Whether a table has a vote in each row, in place of a column for each worker."""
    return len(find_columns(columns, ["task", "worker", "label"])) == 3


def find_tasks(rows: Rows, x: Any, votes: Any) -> Names | None:
    """The task of each row, if x names them in a column or in the index of a data frame."""
    names: Names | None = getattr(rows, "names", None)
    if names is None and isinstance(votes, Votes):
        names = names_in_index(x, votes.tasks)
    return names


def numbered(votes: Votes, rows: int) -> list[int] | None:
    """The numbers of all rows if the tasks are named by numbers of rows, from 0; otherwise None."""
    numbers = list(range(rows))
    return numbers if len(votes.tasks) and (lookup(votes.tasks, numbers) >= 0).all() else None


def to_votes(y: Any, rows: int, classes: Sequence[Any] | None = None) -> Votes:
    """Votes on `rows` tasks from any form of y.

    Parameters
    ----------
    y
        `Votes`; or a matrix with a row for each task and a column for each worker, -1 or NaN where a
        worker gave no label; or one label for each task, as from a single worker. Labels of -1 and 1 alone
        are two classes.
    rows
        How many rows X has: task *i* is row *i*.
    classes
        All classes in their order, if some may be missing from y.
    """
    if y is None:
        raise ValueError("CrowdClassifier requires y to be passed, but the target y is None: y holds votes")
    votes = _recode(y, classes) if isinstance(y, Votes) else _from_array(np.asarray(y), classes)
    if len(votes.tasks) != rows:
        raise ValueError(
            f"X has {rows} rows and y is about {len(votes.tasks)} tasks; row i of X must be task i of y, "
            "or say which task each row is with tasks="
        )
    if len(votes) == 0 and (votes.gold is None or (votes.gold < 0).all()):
        raise ValueError("there are no votes to learn from")
    return votes


def _recode(votes: Votes, classes: Sequence[Any] | None) -> Votes:
    """The same votes with the codes of these classes."""
    if classes is None or list(classes) == votes.classes.tolist():
        return votes
    code = lookup(votes.classes, classes)
    gold = votes.gold
    used = votes.label if gold is None else np.append(votes.label, gold[gold >= 0])
    if (unknown := used[code[used] < 0]).size:
        raise ValueError(
            f"there are votes for {votes.classes.item(unknown[0])!r}, which is none of the classes"
        )
    return replace(
        votes, label=code[votes.label], classes=to_names(classes),
        gold=None if gold is None else np.append(code, np.int32(-1))[gold],
    )  # fmt: skip


def _from_array(y: Any, classes: Sequence[Any] | None) -> Votes:
    if y.ndim not in (1, 2):
        raise ValueError(f"y has {y.ndim} dimensions, expected votes, (tasks, workers) or (tasks,)")
    if y.dtype.kind == "f":
        _check_whole(y[~np.isnan(y)])
    matrix = y[:, None] if y.ndim == 1 else y
    signs = y.ndim == 1 and _are_signs(y, classes)
    task, worker = np.nonzero(
        matrix == matrix if signs else _has_vote(matrix)
    )  # a NaN is not equal to itself
    names = np.arange(len(matrix))
    votes = Votes.of(task, worker, matrix[task, worker], classes=classes, tasks=names.tolist())
    return align(votes, names.tolist())


def _check_whole(labels: Any) -> None:
    """Raise if labels are not whole numbers."""
    if not np.isfinite(labels).all():
        raise ValueError("y holds infinity, expected labels")
    if (broken := labels[labels != np.round(labels)]).size:
        raise ValueError(
            f"Unknown label type: y holds continuous numbers such as {broken[0]:.4g}, expected labels or "
            "votes; crowdpilot.io.from_shares makes votes of the shares of classes"
        )


def _are_signs(labels: Any, classes: Sequence[Any] | None) -> bool:
    """Whether -1 is a label, not a missing one: a class, or the only one beside 1."""
    if labels.dtype.kind not in "if":
        return False
    if classes is not None:
        return NO_VOTE in list(classes)
    return bool(np.array_equal(np.unique(labels[labels == labels]), [-1, 1]))


def _has_vote(matrix: Any) -> Any:
    if matrix.dtype.kind == "f":
        return ~np.isnan(matrix) & (matrix != NO_VOTE)
    if matrix.dtype.kind in "iu":
        return matrix != NO_VOTE
    return ~np.isin(matrix.astype(str), ["", "nan", "None", "-1"])


def align(votes: Votes, tasks: Sequence[Any] | Names) -> Votes:
    """The same votes with the tasks in this order; votes about other tasks are an error."""
    if len(set(map(str, tasks))) < len(tasks):
        raise ValueError("a task is named twice among the rows of X")
    code = lookup(votes.tasks, tasks)
    if len(without_row := votes.tasks[code < 0]):
        raise ValueError(
            f"{len(without_row)} tasks with votes have no row in X, such as {str(without_row[0])!r}"
        )
    gold = None
    if votes.gold is not None:
        gold = np.full(len(tasks), -1, np.int32)
        gold[code] = votes.gold
    return Votes(
        code[votes.task], votes.worker, votes.label, np.asarray(tasks), votes.workers, votes.classes,
        votes.weight, votes.seconds, votes.time, gold, votes.dropped,
    )  # fmt: skip


def to_codes(truth: Any, rows: int, votes: Votes) -> Codes:
    """The code of the true label of each row, -1 where it is missing."""
    known = to_votes(truth, rows, votes.classes.tolist())
    codes = np.full(rows, -1, np.int32)
    codes[known.task] = known.label
    return codes
