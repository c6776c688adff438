"""From a table of votes to `Votes`, and back: every reader and writer of votes passes here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names, need_arrow
from crowdpilot.io.columns import NumberError, Table, column_of_names, encode_column
from crowdpilot.io.engine import engine
from crowdpilot.io.format import VotesTable
from crowdpilot.io.inference.column_roles import resolve
from crowdpilot.names import Encoded
from crowdpilot.votes import Votes

NUMBER_ROLES = ("weight", "seconds", "time")


def as_table(source: Any) -> Table:
    """Table of any data frame, or of a mapping of columns; a table stays what it is."""
    if isinstance(source, Table):
        return source
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__"):
        need_arrow("a data frame")
    try:
        return engine().as_table(source)
    except (TypeError, ValueError) as error:
        found = f"{type(source).__module__}.{type(source).__qualname__}"
        reason = str(error).split("\n")[0]
        raise ValueError(f"{found} is no path and no table of columns of one type ({reason})") from error


def from_frame(table: Table, columns: Mapping[str, str | None], required: Sequence[str]) -> VotesTable:
    """A table in memory, whose columns are named by the user or by themselves."""
    try:
        roles = resolve(table.column_names, columns, content=table.select, required=required)
    except ValueError as error:
        raise ValueError(f"the table: {error}") from error
    return VotesTable(table, roles.columns, columns.keys(), notes=roles.notes)


class EncodedVotes(NamedTuple):
    """The columns of a table of votes as codes and numbers, without the table."""

    task: Encoded
    worker: Encoded
    label: Encoded
    gold: dict[Any, Any]
    numbers: dict[str, Floats]


def from_table(votes: VotesTable) -> EncodedVotes:
    """The codes of the table that a format has found; every reader passes here."""
    votes.require("task", "worker", "label")
    task = _encode(votes, "task", votes.tasks)
    worker = _encode(votes, "worker", votes.workers)
    label = _encode(votes, "label")
    gold: dict[Any, Any] = {}
    if "gold" in votes.roles:
        tasks, codes, labels, *_ = _one_label(votes, task, _encode(votes, "gold"))
        gold = dict(zip(tasks.tolist(), labels[codes].tolist(), strict=True))
    numbers = _numbers(votes)
    _check_weights(votes, label, numbers.get("weight"))
    return EncodedVotes(task, worker, label, gold, numbers)


class TaskLabels(NamedTuple):
    """The one label of each task that has one."""

    tasks: Names  # (tasks,)
    codes: Codes  # (tasks,) of the labels
    labels: Names  # those that occur
    rows: Codes  # (tasks,) the last row of each task in its table
    left_out: int  # rows without a task or a label


def labels_from_table(votes: VotesTable) -> dict[Any, Any]:
    """The label of each task, from a table that has at most one for each; of votes, the true one."""
    tasks, codes, labels, *_ = task_labels(votes)
    return dict(zip(tasks.tolist(), labels[codes].tolist(), strict=True))


def task_labels(votes: VotesTable) -> TaskLabels:
    """The same as arrays."""
    is_plain = "label" in votes.chosen_roles or ("label" in votes.roles and "worker" not in votes.roles)
    role = "gold" if "gold" in votes.roles and not is_plain else "label"
    votes.require("task", role)
    return _one_label(votes, _encode(votes, "task"), _encode(votes, role))


def _encode(votes: VotesTable, role: str, first: Names | None = None) -> Encoded:
    name = votes.roles[role]
    try:
        return encode_column(votes.table[name], votes.numbers_as_text, first)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise votes.error(f"{reason} in column {name!r}, expected one text or number each") from error


def _one_label(votes: VotesTable, task: Encoded, gold: Encoded) -> TaskLabels:
    """The one known label of each task that has one; two different ones are an error."""
    rows = np.flatnonzero((gold.codes >= 0) & (task.codes >= 0))
    known = np.full(len(task.names), -1, np.int32)
    known[task.codes[rows]] = gold.codes[rows]
    other = rows[known[task.codes[rows]] != gold.codes[rows]]
    if len(other):
        n, t = other[0], task.codes[other[0]]
        both = f"{gold.names.item(gold.codes[n])!r} and {gold.names.item(known[t])!r}"
        raise votes.error(f"task {task.names.item(t)!r} has the true labels {both}, expected one", int(n))
    has = np.flatnonzero(known >= 0)
    last_row = np.zeros(len(known), np.int32)
    last_row[task.codes[rows]] = rows
    return TaskLabels(task.names[has], known[has], gold.names, last_row[has], len(task.codes) - len(rows))


def _numbers(votes: VotesTable) -> dict[str, Floats]:
    """Weights and times; a time that nobody named and that cannot be read is left out."""
    numbers: dict[str, Floats] = {}
    for role in NUMBER_ROLES:
        try:
            if role in votes.roles:
                column = votes.table[votes.roles[role]]
                numbers[role] = column.times() if role == "time" else column.floats()
        except ValueError as error:
            if role == "weight" or role in votes.chosen_roles:
                problem = f"{str(error).partition(chr(10))[0]} in column {votes.roles[role]!r}"
                expected = "a time" if role == "time" else "a number"
                row = error.row if isinstance(error, NumberError) else None
                raise votes.error(f"{problem}, expected {expected}", row) from error
    return numbers


def _check_weights(votes: VotesTable, label: Encoded, weight: Floats | None) -> None:
    if weight is None:
        return
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)) & (label.codes >= 0))
    if len(bad):
        raise votes.error(f"found the weight {weight[bad[0]]}, expected a number of 0 or more", int(bad[0]))


def votes_columns(votes: Votes) -> dict[str, Any]:
    """A row for each vote, and one without a label for each task that has none, by column."""
    unseen = np.flatnonzero(np.bincount(votes.task, minlength=len(votes.tasks)) == 0).astype(np.int32)
    none = np.full(len(unseen), -1, np.int32)
    task = np.concatenate([votes.task, unseen])
    columns: dict[str, Any] = {
        "task": column_of_names(task, votes.tasks),
        "worker": column_of_names(np.concatenate([votes.worker, none]), votes.workers),
        "label": column_of_names(np.concatenate([votes.label, none]), votes.classes),
    }
    for name in NUMBER_ROLES:
        if (values := getattr(votes, name)) is not None:
            columns[name] = np.append(values, np.full(len(unseen), np.nan))
    if votes.gold is not None:
        columns["gold"] = column_of_names(votes.gold[task], votes.classes)
    return columns


def to_table(votes: Votes) -> Table:
    """The same as a table."""
    return as_table(votes_columns(votes))


def split_rows(table: Table, column: str) -> dict[str, Table]:
    """The rows of a table by the value of a column, as text."""
    texts = np.asarray([str(value) for value in table[column].values()], object)
    return {text: table.filter(texts == text) for text in dict.fromkeys(texts.tolist())}


def check_single(votes: Votes, format: str) -> None:
    """Raise if there is more than one label, or a weight, for a task and a worker."""
    if votes.weight is not None:
        raise ValueError(f"the votes have weights, which the format {format} cannot hold")
    pair = votes.task.astype(np.int64) * len(votes.workers) + votes.worker
    if len(np.unique(pair)) < len(pair):
        raise ValueError(f"a worker labels a task twice, which the format {format} cannot hold")


def label_matrix(votes: Votes, format: str) -> Codes:
    """Codes of the labels, dense (tasks, workers); -1 where there is no vote."""
    check_single(votes, format)
    labels = np.full((len(votes.tasks), len(votes.workers)), -1, np.int32)
    labels[votes.task, votes.worker] = votes.label
    return labels
