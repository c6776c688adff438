"""The engine that reads tables: Arrow where pyarrow is installed, else Python's csv module and numpy.

Everything past this point is the same for both: a `Table` of numpy columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from crowdpilot.io.columns import Column, Table
from crowdpilot.names import Encoded


class Engine(Protocol):
    """What `crowdpilot.io.arrow` and `crowdpilot.io.plain` both offer."""

    def open(self, path: Path) -> Any:
        """The bytes of a file as a stream; a compressed file is decompressed on the way."""

    def create(self, path: Path) -> Any:
        """A stream into a new file, which is compressed if its suffix says so."""

    def read_csv(
        self,
        stream: Any,
        delimiter: str,
        header: Sequence[str],
        names: Sequence[str] | None,
        has_header: bool = True,
    ) -> tuple[Table, str]:
        """Some columns of a text file (None: all, by position), and the last value in it.

        Without a header in the file, the names are only in `header`.
        """

    def read_json_lines(
        self, open: Callable[[], Any], roles: Callable[[Table], Mapping[str, str]]
    ) -> Table | None:
        """The records of a file of JSON lines, if there is a quick way that keeps names as they are."""

    def as_table(self, source: Any) -> Table:
        """Table of a mapping of columns; with Arrow also of any data frame."""

    def column(self, values: Any) -> Column:
        """Column of any values; if they are of several types, they all become text."""

    def join_rows(self, columns: Sequence[Encoded], separators: Sequence[str], missing: str) -> Iterator[str]:
        """Pieces of text: in each row, the values of at least one column between the separators.

        Parameters
        ----------
        columns
            Texts and numbers; of a number, the shortest text is written.
        separators
            One before each column and one after the last.
        missing
            Written where a code is -1.
        """

    def release(self) -> None:
        """Give back the memory of tables that are gone."""


@cache
def engine() -> Engine:
    """Arrow if it is installed; neither is loaded before it is needed."""
    try:
        import_module("pyarrow")
    except ImportError:
        from crowdpilot.io import plain

        return plain
    from crowdpilot.io import arrow

    return arrow
