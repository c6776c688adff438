"""Votes as a table with a row for each task and a column for each worker; an empty cell is no vote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Names
from crowdpilot.io.columns import Table, column_of_names, encode_column, stack, table_of
from crowdpilot.io.csv_reading import read_rows, text_table
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.inference.column_names import find_columns, listed
from crowdpilot.io.inference.column_summary import Summary, summarize, summarize_column
from crowdpilot.io.inference.wide_layout import Layout, find_layout
from crowdpilot.io.source import Source
from crowdpilot.io.text_writing import csv_style, header_line, join_lines, texts, write_text
from crowdpilot.io.votes_tables import label_matrix
from crowdpilot.names import Encoded, to_names
from crowdpilot.votes import Votes

GOLD = "gold"  # how the column of true labels is written
MIN_ROWS_OF_COUNTS = 4
CELLS_PER_PIECE = 1 << 20  # written at once


def may_be_wide(names: Sequence[str], columns: Mapping[str, str | None]) -> bool:
    """Whether the names of columns do not say that each row is a vote."""
    return "label" not in columns and not {"worker", "label"} <= find_columns(names).keys()


def looks_wide(table: Table, columns: Mapping[str, str | None]) -> bool:
    """Whether a table in memory is wide; one that is not clear is, so that reading it says why."""
    names = table.column_names
    return may_be_wide(names, columns) and _is_wide(names, map(summarize_column, table.columns), columns)


def sniff(source: Source) -> bool:
    """Whether it is such a table, as text."""
    if "\0" in source.start or not may_be_wide(source.header, source.columns):
        return False
    sample = list(zip(*source.sample, strict=False)) or [()] * len(source.header)
    return len(sample) == len(source.header) and _is_wide(
        source.header, map(summarize, sample), source.columns
    )


def _is_wide(names: Sequence[str], columns: Iterable[Summary], chosen: Mapping[str, str | None]) -> bool:
    try:
        return find_layout(names, list(columns), chosen) is not None
    except ValueError:
        return True


def parse(source: Source) -> VotesTable:
    """Every cell as text."""
    source.roles(source.header, {})
    table = text_table(source, read_rows(source), {})
    return to_long(table, source.columns, is_forced=source.is_format_named)


def to_long(votes: VotesTable, columns: Mapping[str, str | None], *, is_forced: bool = False) -> VotesTable:
    """One row for each cell that is not empty, and one for each task that has none.

    Parameters
    ----------
    votes
        A table with a row for each task, or for each worker.
    columns
        Those that the user has named.
    is_forced
        The user says that it is wide: then every column without another role is a worker.
    """
    names = votes.table.column_names
    layout = _layout(votes, columns, is_forced)
    voters = to_names([names[n] for n in layout.votes])
    cells = encode_column(stack([votes.table.columns[n] for n in layout.votes]), votes.numbers_as_text)
    labels = cells.codes.reshape(len(voters), -1).T  # (rows, columns of votes)
    if not is_forced and (_are_counts(labels, cells.names) or _are_counts(labels[:-1], cells.names)):
        raise votes.error(
            f"each row of {listed(list(voters))} has the same sum, so that these may be counts of votes for "
            "classes; give one row for each vote, or if these are workers, say format=wide (--format)"
        )
    row, voter = np.nonzero(labels >= 0)
    unlabelled = np.flatnonzero((labels < 0).all(axis=1))
    rows, none = np.append(row, unlabelled), np.full(len(unlabelled), -1)
    row_names, row_role = _rows(votes.table, layout), "worker" if layout.rows_are_workers else "task"
    other_role = "task" if layout.rows_are_workers else "worker"
    long = {
        row_role: column_of_names(row_names.codes[rows], row_names.names),
        other_role: column_of_names(np.append(voter, none), voters),
        "label": column_of_names(np.append(labels[row, voter], none), cells.names),
    }
    if layout.gold is not None:
        gold = votes.table.columns[layout.gold].distinct
        long["gold"] = column_of_names(gold.codes[rows], gold.names)
    every = {row_role: row_names.names, other_role: voters}
    return replace(
        votes, table=table_of(long), roles={role: role for role in long}, names=(), tasks=every["task"],
        workers=every["worker"], position=lambda n: votes.position(int(rows[n])),
        missing_labels=layout.missing, notes=[*votes.notes, *layout.notes],
        described=_described(names, layout, row_role, other_role),
        ignored=[names[n] for n in layout.ignored],
    )  # fmt: skip


def _layout(votes: VotesTable, columns: Mapping[str, str | None], is_forced: bool) -> Layout:
    """The layout that was found, or the one that the user forces."""
    names, summaries = votes.table.column_names, [summarize_column(column) for column in votes.table.columns]
    try:
        layout = find_layout(names, summaries, columns, is_forced=is_forced)
    except ValueError as error:
        raise votes.error(str(error)) from error
    if layout is None:
        raise votes.error("found no column of a worker, expected one for each of them")
    return layout


def _are_counts(labels: NDArray[np.integer[Any]], names: Names) -> bool:
    """Whether whole numbers have the same sum in all rows, though the rows differ; (rows, columns)."""
    if names.dtype.kind not in "iu" or len(labels) < MIN_ROWS_OF_COUNTS or (labels < 0).any():
        return False
    numbers = names[labels]
    sums = numbers.sum(axis=1)
    return bool((sums == sums[0]).all() and (numbers >= 0).all() and (numbers != numbers[0]).any())


def _rows(table: Table, layout: Layout) -> Encoded:
    """What names the rows, or their number."""
    if layout.row is None:
        return Encoded(np.arange(len(table), dtype=np.int32), np.arange(len(table)))
    return table.columns[layout.row].distinct


def _described(names: Sequence[str], layout: Layout, row_role: str, other_role: str) -> dict[str, str]:
    row = "the number of the row" if layout.row is None else repr(names[layout.row])
    shown = f"{len(layout.votes)} columns ({listed([names[n] for n in layout.votes])})"
    gold = {} if layout.gold is None else {"gold": repr(names[layout.gold])}
    return {row_role: row, other_role: shown} | gold


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


FORMAT = Format(
    "text with a row for each task and a column for each worker",
    sniff,
    parse,
    write,
    has_columns=True,
    sample="task,x,y\na,cat,\n",
)
