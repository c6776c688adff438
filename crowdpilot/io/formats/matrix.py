"""Votes as a bare matrix of tasks by workers: whole numbers, -1 where there is no vote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import Source
from crowdpilot.io.votes_tables import as_table, label_matrix
from crowdpilot.votes import Votes

MIN_COUNTED_COLUMNS = 4
ROW = re.compile(r"\s*-?\d+(\.0+)?([ \t]+-?\d+(\.0+)?)*\s*")


def sniff(source: Source) -> bool:
    """Whether the first lines are whole numbers with blanks between them."""
    text = source.start.rpartition("\n")[0] or source.start  # the last line may have been cut off
    lines = [line for line in text.splitlines()[:10] if line.strip()]
    return bool(lines) and all(ROW.fullmatch(line) for line in lines)


def parse(source: Source) -> VotesTable:
    """Tasks and workers are numbered by row and column, from zero."""
    labels = _load(source)
    count = labels.shape[1]
    if count >= MIN_COUNTED_COLUMNS and any((labels[0] == np.arange(n, n + count)).all() for n in (0, 1)):
        source.notes.append(
            "the first line counts the columns and is read as a task; if it is a header, name the columns "
            "with header= (--header) and say format=wide"
        )
    task, worker = np.nonzero(labels >= 0)
    table = as_table({"task": task, "worker": worker, "label": labels[task, worker].astype(np.int64)})
    tasks, workers = (np.arange(size) for size in labels.shape)
    roles = {name: name for name in table.column_names}
    return VotesTable(table, roles, tasks=tasks, workers=workers, name=str(source.path))


def _load(source: Source) -> Floats:
    """The numbers, (tasks, workers)."""
    delimiter = "," if "," in source.start.partition("\n")[0] else None
    lines = list(source.lines())
    try:
        labels = np.loadtxt(lines, delimiter=delimiter, comments=None, ndmin=2)
    except ValueError as error:
        raise _parse_error(source, lines, delimiter) from error
    labels = np.where(np.isnan(labels), -1, labels)
    if (wrong := (labels < -1) | (labels != np.floor(labels))).any():
        row, column = np.argwhere(wrong)[0]
        filled = [number for number, line in enumerate(lines, 1) if line.strip()]
        problem = f"found {labels[row, column]:g}, expected a label from 0, or -1 for no vote"
        raise source.error(problem, filled[row])
    return labels


def _parse_error(source: Source, lines: Sequence[str], delimiter: str | None) -> ValueError:
    width = len(next(line for line in lines if line.strip()).split(delimiter))
    for number, line in enumerate(lines, 1):
        cells = line.split(delimiter)
        if line.strip() and (len(cells) != width or not all(map(_is_number, cells))):
            return source.error(f"found {line.strip()[:40]!r}, expected {width} whole numbers", number)
    return source.error("expected rows of whole numbers")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def write(votes: Votes, path: Path) -> None:
    """A row for each task; names of tasks and workers are lost, labels have to be whole numbers."""
    labels = label_matrix(votes, "matrix")
    if votes.classes.dtype.kind not in "iu" or (len(votes.classes) and votes.classes.min() < 0):
        raise ValueError("the labels are not whole numbers from 0, which the format matrix needs")
    numbers = np.append(votes.classes, -1)[labels]  # a missing vote has the code -1
    np.savetxt(path, numbers, fmt="%d")


FORMAT = Format(
    "rows of whole numbers, tasks by workers, -1 for no vote",
    sniff,
    parse,
    write,
    (".txt",),
    sample="0 -1\n-1 -1\n",
)
