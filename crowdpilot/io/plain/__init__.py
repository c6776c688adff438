"""Columns without Arrow: by their distinct values, in plain Python; see `Engine` for what is here."""

from crowdpilot.io.plain.columns import as_table, column, named, names, release, stack, table, to_text, values
from crowdpilot.io.plain.encoding import encode_column, encode_names, vocabulary
from crowdpilot.io.plain.numbers import to_floats, to_times
from crowdpilot.io.plain.reading import create, open, read_json, read_text
from crowdpilot.io.plain.text import join_all, join_cells, join_rows, texts, written

__all__ = [
    "as_table",
    "column",
    "create",
    "encode_column",
    "encode_names",
    "join_all",
    "join_cells",
    "join_rows",
    "named",
    "names",
    "open",
    "read_json",
    "read_text",
    "release",
    "stack",
    "table",
    "texts",
    "to_floats",
    "to_text",
    "to_times",
    "values",
    "vocabulary",
    "written",
]
