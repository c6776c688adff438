"""Errors of tables: a file that is no table, a text that is no number."""

from __future__ import annotations

import reprlib


class TableError(ValueError):
    """A table cannot be read or written."""


class NumberError(ValueError):
    """A value is not a number or a time; `row` is the row in which it stands."""

    def __init__(self, value: object, row: int):
        super().__init__(f"found {reprlib.repr(value)}")
        self.row = row
