"""Whether the first line of a text with columns names them, or is data already."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdpilot.io.columns import Table
from crowdpilot.io.inference.column_names import WEAK_ALIASES, candidates, is_known, listed
from crowdpilot.io.source import Source

NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d+)?\s*")
USUAL_HEADERS = {2: "task,label", 3: "task,worker,label"}


def check_header(source: Source) -> None:
    """Raise if the first line looks like the lines below it, and no name in it is known."""
    if source.header_names is not None or not _is_like_data(source):
        return
    names = USUAL_HEADERS.get(len(source.header), "task,worker,label,...")
    problem = f"the first line ({listed(source.header)}) looks like data"
    are_numbers = all(map(NUMBER.fullmatch, source.header))
    other = (
        "rows are tasks, say format=matrix"
        if are_numbers
        else "it is a header, say what is what with columns= (--columns)"
    )
    raise source.error(f"{problem}; name the columns with header= (--header {names}), or if {other}", 1)


def _is_like_data(source: Source) -> bool:
    """Whether a value of the first row is a number, occurs again below it or is written like all below it."""
    first = [value.strip() for value in source.header]
    rows = (row for row in source.sample if len(row) == len(first))
    below = [[cell.strip() for cell in cells] for cells in zip(*rows, strict=True)]
    pairs = [(value, cells) for value, cells in zip(first, below, strict=False) if value]
    named = {name for name in source.columns.values() if name}
    known = [value not in cells for value, cells in pairs if value in named or _is_name(value)]
    if len(known) > 1 or any(known):
        return False
    return any(
        value in cells or _is_number_of(value, cells) or _is_written_like(value, cells)
        for value, cells in pairs
    )


def check_repeated_header(source: Source, table: Table) -> None:
    """Raise if a row holds the names of its columns, as where files were put together."""
    if source.header_names is not None or len(table.columns) < 2:
        return
    is_header: NDArray[np.bool_] = np.ones(len(table), bool)
    for name, column in zip(table.column_names, table.columns, strict=True):
        codes, values = column.encoded
        is_header &= np.isin(codes, np.flatnonzero(values == name))
        if not is_header.any():
            return
    raise source.error(
        f"the header occurs again in row {int(np.argmax(is_header)) + 1} below it; remove it there"
    )


def _is_name(value: str) -> bool:
    """Whether columns are called like this."""
    return is_known(value) or any(candidates([value], role, WEAK_ALIASES) for role in WEAK_ALIASES)


def _is_number_of(value: str, cells: Sequence[str]) -> bool:
    return bool(NUMBER.fullmatch(value)) and all(NUMBER.fullmatch(cell) for cell in cells if cell)


def _is_written_like(value: str, cells: Sequence[str]) -> bool:
    return any(map(str.isdigit, value)) and {_shape(cell) for cell in cells} == {_shape(value)}


def _shape(value: str) -> str:
    """How a value is written: `t12` as `a0`."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", value))
