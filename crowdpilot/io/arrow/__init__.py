"""Columns by Arrow: quick, and of every type; see `Engine` for what is here."""

from crowdpilot.io.arrow.columns import as_table, column, named, names, release, stack, table, to_text, values
from crowdpilot.io.arrow.encoding import encode_column, encode_names, vocabulary
from crowdpilot.io.arrow.numbers import to_floats, to_times
from crowdpilot.io.arrow.reading import create, open, read_json, read_text
from crowdpilot.io.arrow.text import join_all, join_cells, join_rows, texts, written

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
