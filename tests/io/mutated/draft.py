"""A file on its way: columns or text, the votes in each of its rows, and how it will be written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from tests.io.mutated.crowd import Vote, counted

IN_CELLS = ("frame", "xlsx", "parquet")  # tables that are no text


def iso(time: int) -> str:
    """A time as most programs write it."""
    return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")


MAX_VOTES_AT_CUT = 12


@dataclass
class Column:
    """One column: its role is task, worker, label, time or nothing."""

    name: str
    values: list[str]
    role: str = ""


@dataclass
class Draft:
    """What is written and what is true of it.

    Parameters
    ----------
    layout
        Its name.
    columns
        Of a table; empty where `text` is all there is.
    votes
        Those in each row of the table; of a text, all of them in one row.
    tasks_named
        Whether the file says what tasks are called, or only numbers them.
    kind
        How a table is written: csv, jsonl, json, xlsx, parquet; or frame, a data frame in memory.
    kept_share
        Of the characters; the rest is cut off.
    words, row_words
        A warning that has one of them names what was done to the file: to its columns and cells, or by rows
        that are no votes.
    merges_spellings
        Whether labels that differ in spelling are one class.
    options
        Of `crowdpilot.read`.
    is_real
        Whether a program has written it.
    columns_are_tasks
        Whether another column would be another task.
    """

    layout: str
    columns: list[Column] = field(default_factory=list)
    votes: list[list[Vote]] = field(default_factory=list)
    text: str | None = None
    archive: bytes | None = None
    tasks_named: bool = True
    kind: str = "csv"
    suffix: str = ".csv"
    delimiter: str = ","
    quoting: Literal[0, 1, 2, 3] = csv.QUOTE_MINIMAL
    encoding: str = "utf-8"
    newline: str = "\n"
    has_header: bool = True
    before: str = ""
    kept_share: float = 1.0
    words: list[str] = field(default_factory=list)
    row_words: list[str] = field(default_factory=list)
    mutations: list[str] = field(default_factory=list)
    merges_spellings: bool = False
    time_text: Callable[[int], str] = iso
    options: dict[str, Any] = field(default_factory=dict)
    is_real: bool = False
    columns_are_tasks: bool = False

    def column(self, role: str) -> Column | None:
        """The column of a role."""
        return next((column for column in self.columns if column.role == role), None)

    def rows(self) -> list[list[str]]:
        """The cells of each row."""
        return [list(cells) for cells in zip(*(column.values for column in self.columns), strict=True)]

    def insert(self, position: int, cells: Sequence[str], votes: list[Vote]) -> None:
        """A new row before the row of this number."""
        for column, cell in zip(self.columns, cells, strict=True):
            column.values.insert(position, cell)
        self.votes.insert(position, votes)

    def content(self) -> bytes:
        """The bytes of the file; `truth` speaks of them."""
        if self.archive is not None:
            return self.archive
        return "".join(self._kept_lines()).replace("\n", self.newline).encode(self.encoding)

    def source(self, path: Path) -> Any:
        """What is read: the path, or the data frame that a user has."""
        if self.kind not in IN_CELLS:
            path.write_bytes(self.content())
            return path
        rows = [list(map(_cell, row)) for row in self.rows()]
        frame = pd.DataFrame(rows, columns=[column.name for column in self.columns])
        if self.kind == "frame":
            return frame
        if self.kind == "xlsx":
            frame.to_excel(path, index=False)
            self.row_words += ["digit", "rounded"]  # long numbers lose their last digits in a workbook
        else:
            frame.to_parquet(path, index=False)
        return path

    def truth(self) -> frozenset[tuple[str, str, str]]:
        """The votes in the rows that are complete."""
        return self._counted(self._kept_rows())

    def truths(self) -> Iterator[frozenset[tuple[str, str, str]]]:
        """The same, and with those votes of the row at the cut that may still be whole."""
        kept = self._kept_rows()
        yield self._counted(kept)
        if self.text is None and False in kept:
            last = self.votes[kept.index(False)][:MAX_VOTES_AT_CUT]  # whose subsets are all looked at
            for size in range(1, len(last) + 1):
                for chosen in combinations(last, size):
                    yield self._counted(kept, chosen)

    def _counted(self, is_kept: list[bool], more: Sequence[Vote] = ()) -> frozenset[tuple[str, str, str]]:
        votes = [vote for kept, row in zip(is_kept, self.votes, strict=True) if kept for vote in row]
        by_time = self.column("time") is not None or self.text is not None or self.archive is not None
        return counted([*votes, *more], by_time)

    def settling(self) -> dict[str, Any]:
        """Options of `crowdpilot.read` with which a user says what is what; none where there are none."""
        names = [column.name for column in self.columns]
        roles = {c.role: c.name for c in self.columns if c.role in ("task", "worker", "label", "time")}
        is_wide = {column.role for column in self.columns} == {"task", "votes"}
        is_clear = is_wide or {"task", "worker", "label"} <= roles.keys()
        if not is_clear or len(set(names)) < len(names):
            return {}
        header = {} if self.has_header else {"header": names}
        return {"columns": roles, **header} | ({"format": "wide"} if is_wide else {})

    def torn(self) -> list[str]:
        """What is left of the last cell, if the end was cut off."""
        if self.kept_share == 1.0 or self.archive is not None:
            return []
        last = "".join(self._kept_lines()).rpartition("\n")[2].rpartition(self.delimiter)[2].strip(' "')
        return [last] if last else []

    # Text -------------------------------------------------------------------------------------

    def _lines(self) -> tuple[list[str], list[str]]:
        """What stands before the rows, and the text of each row."""
        if self.text is not None:
            return [self.before], [self.text]
        if self.kind in ("csv", *IN_CELLS):
            lines = [self._line([column.name for column in self.columns])] if self.has_header else []
            return [self.before, *lines], [self._line(row) for row in self.rows()]
        records = [json.dumps(record, ensure_ascii=False) for record in self._records()]
        if self.kind == "jsonl":
            return [self.before], [record + "\n" for record in records]
        return [self.before + "["], [
            f"{record}{']' if n + 1 == len(records) else ','}\n" for n, record in enumerate(records)
        ]

    def _records(self) -> list[dict[str, Any]]:
        """The rows by name; numbers are numbers in a column that has nothing else."""
        columns = {column.name: column.values for column in self.columns}
        typed = {
            name: [int(value) for value in values] if all(map(_is_number, values)) else values
            for name, values in columns.items()
        }
        return [dict(zip(typed, row, strict=True)) for row in zip(*typed.values(), strict=True)]

    def _line(self, cells: Sequence[Any]) -> str:
        stream = io.StringIO()
        csv.writer(stream, delimiter=self.delimiter, quoting=self.quoting, lineterminator="\n").writerow(
            cells
        )
        return stream.getvalue()

    def _cut(self) -> int:
        head, rows = self._lines()
        length = sum(map(len, [*head, *rows]))
        return length if self.kept_share == 1.0 else int(length * self.kept_share)

    def _kept_lines(self) -> list[str]:
        head, rows = self._lines()
        text = "".join([*head, *rows])
        return [text[: self._cut()]]

    def _kept_rows(self) -> list[bool]:
        if self.archive is not None:
            return [True] * len(self.votes)
        head, rows = self._lines()
        cut = self._cut()
        end = sum(map(len, head))
        kept = []
        for row in rows:
            end += len(row)
            kept.append(end - 1 <= cut)
        return kept


def _cell(text: str) -> Any:
    if text == "":
        return None
    return int(text) if _is_number(text) else text


def _is_number(text: str) -> bool:
    return text.isdigit() and str(int(text)) == text
