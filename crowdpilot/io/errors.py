"""What can go wrong in a table."""

from __future__ import annotations

import reprlib
import sys


class Malformed(ValueError):
    """A table cannot be read or written; Arrow has exceptions of its own for that."""


class NotANumber(ValueError):
    """A value cannot be read; `row` says where it stands."""

    def __init__(self, value: object, row: int):
        super().__init__(f"found {reprlib.repr(value)}")
        self.row = row


def failures(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """What the reading and writing of tables raises; of Arrow only if it is loaded."""
    arrow = sys.modules.get("pyarrow")
    return (*more, Malformed) if arrow is None else (*more, Malformed, arrow.ArrowException)
