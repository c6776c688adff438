"""Votes as a table with a row for each task and a column for each worker; an empty cell is no vote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.io.column_names import find_columns
from crowdpilot.io.columns import Table, column_of_names, encode_column, stack, table_of
from crowdpilot.io.csv_reading import read_rows, text_table
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import SAMPLE_ROWS, Source
from crowdpilot.io.text_writing import csv_style, header_line, join_lines, texts, write_text
from crowdpilot.io.votes_tables import label_matrix
from crowdpilot.names import to_names
from crowdpilot.votes import Votes

INDEX = {"", "id", "index", "unnamed: 0"}  # names of a first column that only numbers the rows
GOLD = "gold"  # the column of true labels; any other column but the task is a worker
MAX_UNCHECKED_VALUES = 20  # so few values may all be different
CELLS_PER_PIECE = 1 << 20  # written at once


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
    return all(
        len(values) <= MAX_UNCHECKED_VALUES or 2 * len(set(values)) <= len(values) for values in filled
    )


def looks_wide(table: Table, columns: Mapping[str, str | None]) -> bool:
    """The same for a table in memory."""
    if not is_wide(table.column_names, columns):
        return False
    names = table.column_names
    return has_labels(names, columns, [column.values(SAMPLE_ROWS) for column in table.columns])


def sniff(source: Source) -> bool:
    """Whether it is such a table, as text."""
    is_table = "\0" not in source.start and is_wide(source.header, source.columns)
    return is_table and has_labels(source.header, source.columns, zip(*source.sample, strict=False))


def parse(source: Source) -> VotesTable:
    """Every cell as text."""
    source.roles(source.header)
    return to_long(text_table(source, read_rows(source), {}), source.columns)


def to_long(votes: VotesTable, columns: Mapping[str, str | None]) -> VotesTable:
    """One row for each cell that is not empty, and one for each task that has none."""
    names = votes.table.column_names
    special = _special(names, columns)
    workers = [n for n in range(len(names)) if n not in special.values()]
    if not workers:
        raise votes.error("found no column of a worker, expected one for each of them")
    cells = encode_column(stack([votes.table.columns[n] for n in workers]), votes.numbers_as_text)
    labels = cells.codes.reshape(len(workers), -1).T  # (tasks, workers)
    row, worker = np.nonzero(labels >= 0)
    unlabelled = np.flatnonzero((labels < 0).all(axis=1))
    rows, none = np.append(row, unlabelled), np.full(len(unlabelled), -1)
    worker_names = to_names([names[n] for n in workers])
    known = {role: votes.table.columns[n].distinct for role, n in special.items()}
    long = {role: column_of_names(codes[rows], values) for role, (codes, values) in known.items()}
    long["worker"] = column_of_names(np.append(worker, none), worker_names)
    long["label"] = column_of_names(np.append(labels[row, worker], none), cells.names)
    return replace(
        votes, table=table_of(long), roles={role: role for role in long}, names=(),
        tasks=known["task"].names, workers=worker_names, position=lambda n: votes.position(int(rows[n])),
    )  # fmt: skip


def write(votes: Votes, path: Path) -> None:
    """A row for each task, made of a dense (tasks, workers) table of codes."""
    write_text(_pieces(votes, "\t" if ".tsv" in path.suffixes else ","), path)


def _pieces(votes: Votes, delimiter: str) -> Iterator[str]:
    style = csv_style(delimiter)
    labels = label_matrix(votes, "wide")
    workers = list(map(str, votes.workers.tolist()))
    if GOLD in workers:
        raise ValueError(
            f"a worker is called {GOLD!r}, which is the column of true labels in the format wide"
        )
    yield header_line(["task", *([] if votes.gold is None else [GOLD]), *workers], delimiter)
    width = labels.shape[1]
    step = max(1, CELLS_PER_PIECE // max(1, width))
    for start in range(0, len(labels), step):
        part = labels[start : start + step]
        columns = [texts(column_of_names(np.arange(start, start + len(part)), votes.tasks), style)]
        if votes.gold is not None:
            columns.append(texts(column_of_names(votes.gold[start : start + step], votes.classes), style))
        if width:
            cells = texts(column_of_names(part.ravel(), votes.classes), style)
            columns.append([delimiter.join(cells[n : n + width]) for n in range(0, len(cells), width)])
        yield join_lines(map(delimiter.join, zip(*columns, strict=True)))


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
