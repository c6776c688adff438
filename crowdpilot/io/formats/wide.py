"""Votes as a table with a row for each task and a column for each worker; an empty cell is no vote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import to_names
from crowdpilot.io.column_names import find_columns
from crowdpilot.io.delimited import read_rows, text_table
from crowdpilot.io.dense import label_matrix
from crowdpilot.io.engine import Table, engine
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.source import SAMPLE, Source
from crowdpilot.io.table_text import csv_style, heading, join_lines, write_text
from crowdpilot.votes import Votes

INDEX = {"", "id", "index", "unnamed: 0"}  # names of a first column that only numbers the rows
GOLD = "gold"  # the column of true labels; any other column but the task is a worker
FEW = 20  # values that may all be different
CELLS = 1 << 20  # written at once


def is_wide(names: Sequence[str], columns: Mapping[str, str | None]) -> bool:
    """Whether there is a task and two more columns, but neither a worker nor a label."""
    roles = {*find_columns(names), *columns}
    has_task = "task" in roles or (len(names) > 0 and names[0].casefold() in INDEX)
    return has_task and len(names) > 2 and not roles & {"worker", "label"}


def has_labels(
    names: Sequence[str], columns: Mapping[str, str | None], sample: Iterable[Sequence[Any]]
) -> bool:
    """Whether the workers repeat themselves, as people do who choose from a few classes."""
    special = _special(names, columns).values()
    cells = [values for n, values in enumerate(sample) if n not in special]
    filled = [[str(value) for value in values if value not in ("", None)] for values in cells]
    return all(len(values) <= FEW or 2 * len(set(values)) <= len(values) for values in filled)


def looks_wide(table: Table, columns: Mapping[str, str | None]) -> bool:
    """The same for a table in memory."""
    if not is_wide(table.column_names, columns):
        return False
    names = table.column_names
    return has_labels(names, columns, [engine().values(table.column(n), SAMPLE) for n in range(len(names))])


def sniff(source: Source) -> bool:
    """Whether it is such a table, as text."""
    is_table = "\0" not in source.start and is_wide(source.header, source.columns)
    return is_table and has_labels(source.header, source.columns, zip(*source.sample, strict=False))


def parse(source: Source) -> Raw:
    """Every cell as text."""
    source.roles(source.header)
    return melt(text_table(source, read_rows(source), {}), source.columns)


def melt(raw: Raw, columns: Mapping[str, str | None]) -> Raw:
    """One row for each cell that is not empty, and one for each task that has none."""
    names = raw.table.column_names
    special = _special(names, columns)
    workers = [n for n in range(len(names)) if n not in special.values()]
    if not workers:
        raise raw.error("found no column of a worker, expected one for each of them")
    by = engine()
    label = by.encode_column(by.stack([raw.table.column(n) for n in workers]), raw.is_text)
    said = label.codes.reshape(len(workers), -1).T  # (tasks, workers)
    row, worker = np.nonzero(said >= 0)
    silent = np.flatnonzero((said < 0).all(axis=1))
    rows, none = np.append(row, silent), np.full(len(silent), -1)
    listed = by.names(to_names([names[n] for n in workers]))
    known = {role: by.vocabulary(raw.table.column(n)) for role, n in special.items()}
    found = {role: by.named(codes[rows], values) for role, (codes, values) in known.items()}
    found["worker"] = by.named(np.append(worker, none), listed)
    found["label"] = by.named(np.append(said[row, worker], none), label.names)
    return replace(
        raw, table=by.table(found), roles={role: role for role in found}, names=(),
        tasks=known["task"][1], workers=listed, place=lambda n: raw.place(int(rows[n])),
    )  # fmt: skip


def write(votes: Votes, path: Path) -> None:
    """A row for each task, made of a dense (tasks, workers) table of codes."""
    write_text(_pieces(votes, "\t" if ".tsv" in path.suffixes else ","), path)


def _pieces(votes: Votes, delimiter: str) -> Iterator[str]:
    style = csv_style(delimiter)
    said = label_matrix(votes, "wide")
    if GOLD in map(str, votes.workers.tolist()):
        raise ValueError(
            f"a worker is called {GOLD!r}, which is the column of true labels in the format wide"
        )
    yield heading(["task", *([] if votes.gold is None else [GOLD]), *map(str, votes.workers.tolist())], style)
    by, width = engine(), said.shape[1]
    step = max(1, CELLS // max(1, width))
    for start in range(0, len(said), step):
        part = said[start : start + step]
        columns = [by.texts(by.names(votes.tasks[start : start + step]), style)]
        if votes.gold is not None:
            columns.append(by.texts(by.named(votes.gold[start : start + step], votes.classes), style))
        if width:
            cells = by.texts(by.named(part.ravel(), votes.classes), style)
            columns.append(by.join_cells(cells, np.arange(0, part.size + 1, width), delimiter))
        yield join_lines(columns, delimiter)


def _special(names: Sequence[str], columns: Mapping[str, str | None]) -> dict[str, int]:
    """Where the task stands, and the true label if there is one; the first column, if in doubt."""
    known = find_columns(names, ["task"])
    is_first = "task" in find_columns(names[:1], ["task"]) or names[0].casefold() in INDEX
    task = columns.get("task") or (names[0] if is_first else known.get("task", names[0]))
    gold = columns.get("gold", GOLD)
    return {role: names.index(n) for role, n in (("task", task), ("gold", gold)) if n in names}


FORMAT = Format(
    "text with a row for each task and a column for each worker",
    sniff,
    parse,
    write,
    has_columns=True,
    sample="task,x,y\na,cat,\n",
)
