"""Who works on columns: Arrow where it is installed, else plain Python.

All formats speak to an engine, so that each is written once. The two give the same votes and the same files;
Arrow is quicker, and knows more kinds of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Encoded, Floats, Names

Table = Any  # has column_names, [name], column(place), append_column(name, column) and filter(mask)
Column = Any  # the values of a table's column
Array = Any  # values that are in no table, such as the distinct ones of a column
Texts = Any  # a text for each row
Integers = NDArray[np.integer[Any]]
Records = tuple[list[str], Callable[[str], Column]]  # names, and the values of each


@dataclass(frozen=True)
class Style:
    """How values are written: what has no text, and what is between values (nothing in JSON)."""

    none: str
    true: str
    false: str
    delimiter: str = ""


JSON = Style("null", "true", "false")


class Engine(Protocol):
    """All that the formats need to know of columns."""

    def open(self, path: Path) -> Any:
        """The bytes of a file as a stream; a packed file is unpacked on the way."""

    def create(self, path: Path) -> Any:
        """A stream into a new file, which is packed if its suffix says so."""

    def read_text(
        self, stream: Any, delimiter: str, header: Sequence[str], names: Sequence[str] | None
    ) -> tuple[Table, str]:
        """Some columns of a text file (None: all by their place), and the last value in it."""

    def read_json(self, source: Any) -> Records | None:
        """The columns of a file of JSON lines, if there is a quick way and all is plain."""

    def as_table(self, source: Any) -> Table:
        """Table of a data frame or of a mapping of columns."""

    def table(self, columns: Mapping[str, Any]) -> Table:
        """Table of columns and arrays."""

    def column(self, values: Any) -> Array:
        """Any values; if they are of several types, they all become text."""

    def names(self, names: Names) -> Array:
        """Names of tasks, workers or classes; those of mixed types become text."""

    def named(self, codes: Integers, names: Any) -> Column:
        """Names by their codes; missing where the code is -1."""

    def stack(self, columns: Sequence[Column]) -> Column:
        """One column below the other; of different types, they meet as numbers or as texts."""

    def values(self, column: Any, count: int | None = None) -> list[Any]:
        """The first values, or all of them."""

    def vocabulary(self, column: Column) -> tuple[Codes, Array]:
        """The distinct values in the order of their first appearance, and the code of each row."""

    def encode_column(self, column: Column, is_text: bool = False, listed: Array | None = None) -> Encoded:
        """Number the values of a column; nothing, NaN and the empty text are missing.

        Whole numbers become integers whatever their type. Text stays text, unless `is_text` says that
        the column had no other way to write numbers and all its values are plain integers. The values
        `listed` come first, whether they occur or not.
        """

    def encode_names(self, names: Array, is_text: bool) -> Encoded:
        """The same for values that are few."""

    def to_floats(self, column: Column) -> Floats:
        """Numbers, and durations as seconds; NaN where there is none."""

    def to_times(self, column: Column) -> Floats:
        """Seconds since 1970 of timestamps and texts that hold one; numbers as they are."""

    def to_text(self, values: Array) -> Array:
        """Values of any type as text."""

    def texts(self, column: Any, style: Style) -> Texts:
        """How each value is written."""

    def written(self, table: Table, style: Style) -> Iterator[list[Texts]]:
        """The same for all columns of a table, many rows at a time."""

    def join_rows(self, columns: Iterable[Texts | str], between: str) -> Texts:
        """Join the texts of each row."""

    def join_cells(self, cells: Texts, starts: Sequence[int] | Integers, between: str) -> Texts:
        """Join the texts from each start to the next one."""

    def join_all(self, cells: Texts, between: str) -> str:
        """Join all texts."""

    def release(self) -> None:
        """Give back the memory of tables that are gone."""


@cache
def engine() -> Engine:
    """The quicker of the two that is there; neither is loaded before it is needed."""
    try:
        import_module("pyarrow")
    except ImportError:
        from crowdpilot.io import plain

        return plain
    from crowdpilot.io import arrow

    return arrow
