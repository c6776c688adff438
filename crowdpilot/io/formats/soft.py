"""Shares in place of votes: for each task, how much of the crowd is for each class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, to_names
from crowdpilot.io.delimited import read_columns, text_table
from crowdpilot.io.engine import engine
from crowdpilot.io.errors import NotANumber
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.source import Source
from crowdpilot.votes import Votes

CROWD = "crowd"  # the one worker who gives all shares
NUMBERED = re.compile(r"conf_?(\d+)", re.IGNORECASE)
NAMED = re.compile(r"(?:conf|p)_(.+)", re.IGNORECASE | re.DOTALL)
OFF = 0.01  # by how much the shares of a task may miss one: they are often rounded


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
        to_names(np.arange(size) if given is None else list(given))
        for size, given in zip(shares.shape, (tasks, classes), strict=True)
    )
    if (sizes := (len(names), len(kinds))) != shares.shape:
        raise ValueError(f"the shares have the shape {shares.shape}, but there are names for {sizes}")
    for what, given in (("task", names), ("class", kinds)):
        if len(set(given.tolist())) < len(given):
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


def parse(source: Source) -> Raw:
    """A vote for each share above zero; the label that the crowd is said to have is not read."""
    columns, roles = _columns(source.header), source.roles(source.header)
    kept = {role: name for role, name in roles.items() if role in ("task", "gold")}
    raw = text_table(source, read_columns(source, [*kept.values(), *columns]), kept)
    raw.require("task")
    if len(columns) < 2:
        raise raw.error("found no shares of classes, expected columns such as conf0 and conf1 or p_NAME")
    shares = np.column_stack([_numbers(raw, name) for name in columns])
    if (wrong := _first_wrong(shares)) is not None:
        raise raw.error(f"the shares of the classes {wrong[1]}", wrong[0])
    task = engine().encode_column(raw.table[kept["task"]], is_text=True)
    if len(task.names) < np.count_nonzero(task.codes >= 0):
        twice = task.names.item(np.argmax(np.bincount(task.codes[task.codes >= 0]) > 1))
        raise raw.error(f"task {twice!r} has several rows, expected one")
    return _melt(raw, shares, list(columns.values()))


def _melt(raw: Raw, shares: Floats, classes: list[str]) -> Raw:
    """One row for each share above zero, and one for each task that has none."""
    row, label = np.nonzero(shares > 0)
    silent = np.flatnonzero(~(shares > 0).any(axis=1))
    rows, none = np.append(row, silent), np.full(len(silent), -1)
    by = engine()
    known = {role: by.vocabulary(raw.table[name]) for role, name in raw.roles.items()}
    found: dict[str, Any] = {role: by.named(codes[rows], values) for role, (codes, values) in known.items()}
    found["worker"] = by.named(np.append(np.zeros_like(row), none), to_names([CROWD]))
    found["label"] = by.named(np.append(label, none), to_names(classes))
    found["weight"] = by.column(np.append(shares[row, label], np.zeros(len(silent))))
    names = by.encode_names(by.names(to_names(classes)), is_text=True).names
    return replace(
        raw, table=by.table(found), roles={role: role for role in found}, names=(), repeats="all",
        tasks=known["task"][1], classes=names.tolist(), place=lambda n: raw.place(int(rows[n])),
    )  # fmt: skip


def _columns(header: Sequence[str]) -> dict[str, str]:
    """The class of each column that holds shares."""
    found = {name: NUMBERED.fullmatch(name) or NAMED.fullmatch(name) for name in header}
    return {name: match[1] for name, match in found.items() if match}


def _numbers(raw: Raw, name: str) -> Floats:
    try:
        return engine().to_floats(raw.table[name])
    except NotANumber as error:
        raise raw.error(f"{error} in column {name!r}, expected a share from 0 to 1", error.row) from error


def _first_wrong(shares: Floats) -> tuple[int, str] | None:
    """The first row that is no distribution, and what is wrong with it."""
    nobody = np.all(np.isnan(shares), axis=1)
    sums = shares.sum(axis=1)
    outside = np.any(~((shares >= 0) & np.isfinite(shares)), axis=1)
    bad = np.flatnonzero(~nobody & (outside | ~(np.abs(sums - 1) <= OFF)))
    if not len(bad):
        return None
    row = int(bad[0])
    if outside[row]:
        return row, "hold a negative number or none, expected numbers from 0 to 1"
    return row, f"sum to {sums[row]:g}, expected 1"


def _sums_to_one(source: Source, columns: list[str]) -> bool:
    places = [source.header.index(name) for name in columns]
    try:
        cells = [[float(row[n]) for n in places] for row in source.sample if len(row) == len(source.header)]
    except ValueError:
        return False
    return bool(cells) and bool((np.abs(np.sum(cells, axis=1) - 1) <= OFF).mean() > 0.9)


FORMAT = Format(
    "text with a row for each task and the share of each class",
    sniff,
    parse,
    has_columns=True,
    sample="task,p_cat,p_dog\na,1,0\n",
)
