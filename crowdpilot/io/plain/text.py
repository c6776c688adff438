"""Tables to text, each distinct value once."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import pairwise, repeat
from typing import Any

from crowdpilot.io.engine import Integers, Style
from crowdpilot.io.plain.columns import Table, column, objects
from crowdpilot.io.plain.values import number_text, text_of

ROWS = 1 << 17  # rows joined at once
BLANK = r"[\t\n\f\r ]"


def texts(values: Any, style: Style) -> list[str]:
    """How each value is written."""
    codes, known = column(values)
    write = partial(_written, style=style, quote=_quoter(style))
    written: list[str] = objects([*map(write, known.tolist()), style.none])[codes].tolist()
    return written


def written(table: Table, style: Style) -> Iterator[list[list[str]]]:
    """The same for all columns of a table, many rows at a time."""
    columns = [texts(column, style) for column in table.columns]
    for start in range(0, len(columns[0]) if columns else 0, ROWS):
        yield [column[start : start + ROWS] for column in columns]


def _written(value: Any, style: Style, quote: Callable[[str], str]) -> str:
    if isinstance(value, bool):
        return style.true if value else style.false
    if isinstance(value, float):
        return number_text(value) if math.isfinite(value) else style.none
    return str(value) if isinstance(value, (int, Decimal)) else quote(text_of(value))


def _quoter(style: Style) -> Callable[[str], str]:
    if not style.delimiter:
        return partial(json.dumps, ensure_ascii=False)
    special = re.compile(rf'["\r\n{re.escape(style.delimiter)}]|\A{BLANK}|{BLANK}\Z|\A\Z')
    return lambda text: '"' + text.replace('"', '""') + '"' if special.search(text) else text


def join_rows(columns: Iterable[list[str] | str], between: str) -> list[str]:
    """Join the texts of each row."""
    same = [repeat(column) if isinstance(column, str) else column for column in columns]
    return list(map(between.join, zip(*same, strict=False)))  # what is repeated has no end


def join_cells(cells: list[str], starts: Sequence[int] | Integers, between: str) -> list[str]:
    """Join the texts from each start to the next one."""
    return [between.join(cells[start:end]) for start, end in pairwise(map(int, starts))]


def join_all(cells: list[str], between: str) -> str:
    """Join all texts."""
    return between.join(cells)
