"""Shares in place of votes: for each task, how much of the crowd is for each class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats
from crowdpilot.io.columns import NumberError, column_of_names, encode_column, encode_names, table_of
from crowdpilot.io.csv_reading import read_columns, text_table
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import Source
from crowdpilot.names import to_names
from crowdpilot.votes import Votes

CROWD = "crowd"  # the one worker who gives all shares
NUMBERED = re.compile(r"conf_?(\d+)", re.IGNORECASE)
NAMED = re.compile(r"(?:conf|p)_(.+)", re.IGNORECASE | re.DOTALL)
MAX_SUM_ERROR = 0.01  # by how much the shares of a task may miss one: they are often rounded


def from_shares(
    probs: ArrayLike, tasks: Sequence[Any] | None = None, classes: Sequence[Any] | None = None
) -> Votes:
    """Votes of a single worker, the crowd, who is for each class as much as its share says.

    The weight of a vote is its share, so that `NaiveSoft` gives the shares back.

    Parameters
    ----------
    probs
        (tasks, classes); each row sums to one. A row of NaN is a task without votes.
    tasks, classes
        Their names; numbers from 0 if not given.

    Examples
    --------
    >>> votes = from_shares([[0.25, 0.75], [1, 0]], tasks=["a", "b"], classes=["cat", "dog"])
    >>> votes.tally().tolist()
    [[0.25, 0.75], [1.0, 0.0]]
    """
    shares = np.asarray(probs, np.float64)
    if shares.ndim != 2 or shares.shape[1] < 2:
        raise ValueError(f"the shares have the shape {shares.shape}, expected (tasks, classes)")
    names, kinds = (
        to_names(np.arange(size) if listed is None else list(listed))
        for size, listed in zip(shares.shape, (tasks, classes), strict=True)
    )
    if (sizes := (len(names), len(kinds))) != shares.shape:
        raise ValueError(f"the shares have the shape {shares.shape}, but there are names for {sizes}")
    for what, unique in (("task", names), ("class", kinds)):
        if len(set(unique.tolist())) < len(unique):
            raise ValueError(f"a {what} is named twice, expected each once")
    if (wrong := _first_wrong(shares)) is not None:
        raise ValueError(f"row {wrong[0]} of the shares {wrong[1]}")
    task, label = np.nonzero(shares > 0)
    worker = np.zeros(len(task), np.int32)
    return Votes(
        task.astype(np.int32), worker, label.astype(np.int32), names, to_names([CROWD]), kinds,
        shares[task, label],
    )  # fmt: skip


def sniff(source: Source) -> bool:
    """Whether there is a task and a share for each class, but no worker.

    Columns such as p_1 and p_2 may also be workers: then the numbers in a row do not sum to one.
    """
    if "\0" in source.start or len(columns := _columns(source.header)) < 2:
        return False
    roles = source.roles(source.header)
    if "task" not in roles or "worker" in roles:
        return False
    return all(map(NUMBERED.fullmatch, columns)) or _sums_to_one(source, list(columns))


def parse(source: Source) -> VotesTable:
    """A vote for each share above zero; the label that the crowd is said to have is not read."""
    columns, roles = _columns(source.header), source.roles(source.header)
    named = {role: name for role, name in roles.items() if role in ("task", "gold")}
    votes = text_table(source, read_columns(source, [*named.values(), *columns]), named)
    votes.require("task")
    if len(columns) < 2:
        raise votes.error("found no shares of classes, expected columns such as conf0 and conf1 or p_NAME")
    shares = np.column_stack([_numbers(votes, name) for name in columns])
    if (wrong := _first_wrong(shares)) is not None:
        raise votes.error(f"the shares of the classes {wrong[1]}", wrong[0])
    task = encode_column(votes.table[named["task"]], numbers_as_text=True)
    if len(task.names) < np.count_nonzero(task.codes >= 0):
        twice = task.names.item(np.argmax(np.bincount(task.codes[task.codes >= 0]) > 1))
        raise votes.error(f"task {twice!r} has several rows, expected one")
    return _to_long(votes, shares, list(columns.values()))


def _to_long(votes: VotesTable, shares: Floats, classes: list[str]) -> VotesTable:
    """One row for each share above zero, and one for each task that has none."""
    row, label = np.nonzero(shares > 0)
    silent = np.flatnonzero(~(shares > 0).any(axis=1))
    rows, none = np.append(row, silent), np.full(len(silent), -1)
    known = {role: votes.table[name].distinct for role, name in votes.roles.items()}
    columns = {role: column_of_names(codes[rows], names) for role, (codes, names) in known.items()}
    columns["worker"] = column_of_names(np.append(np.zeros_like(row), none), to_names([CROWD]))
    columns["label"] = column_of_names(np.append(label, none), to_names(classes))
    columns["weight"] = engine().column(np.append(shares[row, label], np.zeros(len(silent))))
    names = encode_names(to_names(classes), numbers_as_text=True).names
    return replace(
        votes, table=table_of(columns), roles={role: role for role in columns}, names=(), repeats="all",
        tasks=known["task"].names, classes=names.tolist(), position=lambda n: votes.position(int(rows[n])),
    )  # fmt: skip


def _columns(header: Sequence[str]) -> dict[str, str]:
    """The class of each column that holds shares."""
    matches = {name: NUMBERED.fullmatch(name) or NAMED.fullmatch(name) for name in header}
    return {name: match[1] for name, match in matches.items() if match}


def _numbers(votes: VotesTable, name: str) -> Floats:
    try:
        return votes.table[name].floats()
    except NumberError as error:
        raise votes.error(f"{error} in column {name!r}, expected a share from 0 to 1", error.row) from error


def _first_wrong(shares: Floats) -> tuple[int, str] | None:
    """The first row that is no distribution, and what is wrong with it."""
    nobody = np.all(np.isnan(shares), axis=1)
    sums = shares.sum(axis=1)
    outside = np.any(~((shares >= 0) & np.isfinite(shares)), axis=1)
    bad = np.flatnonzero(~nobody & (outside | ~(np.abs(sums - 1) <= MAX_SUM_ERROR)))
    if not len(bad):
        return None
    row = int(bad[0])
    if outside[row]:
        return row, "hold a negative number or none, expected numbers from 0 to 1"
    return row, f"sum to {sums[row]:g}, expected 1"


def _sums_to_one(source: Source, columns: list[str]) -> bool:
    positions = [source.header.index(name) for name in columns]
    try:
        cells = [
            [float(row[n]) for n in positions] for row in source.sample if len(row) == len(source.header)
        ]
    except ValueError:
        return False
    return bool(cells) and bool((np.abs(np.sum(cells, axis=1) - 1) <= MAX_SUM_ERROR).mean() > 0.9)


FORMAT = Format(
    "text with a row for each task and the share of each class",
    sniff,
    parse,
    has_columns=True,
    sample="task,p_cat,p_dog\na,1,0\n",
)
