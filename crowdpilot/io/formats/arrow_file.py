"""Votes in a file of Arrow: `.arrow` and `.feather`, with a footer or as a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdpilot.arrays import need_arrow
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import Source
from crowdpilot.io.tables.column_files import broken_file_errors, column_votes, names_of

FILE_MAGIC = b"ARROW1"
STREAM_MAGIC = b"\xff\xff\xff\xff"  # before the length of a message
OLD_FEATHER_MAGIC = b"FEA1"


def sniff(source: Source) -> bool:
    """Whether it begins like one."""
    return source.head.startswith((FILE_MAGIC, STREAM_MAGIC, OLD_FEATHER_MAGIC))


def parse(source: Source) -> VotesTable:
    """The columns that matter; numbers of classes become their names."""
    need_arrow(f"{source.path}: a file of Arrow")
    from crowdpilot.io import arrow
    from crowdpilot.io.tables.class_labels import with_class_names

    if source.head.startswith(OLD_FEATHER_MAGIC):
        raise source.error(
            "it is a Feather file of version 1; write it again with a newer library, or as CSV"
        )
    with broken_file_errors(source, "file of Arrow"), arrow.table_errors(), source.open_bytes() as stream:
        table = read_stream(stream.read(), source.head.startswith(FILE_MAGIC))
    table = with_class_names(table)
    return column_votes(
        source, names_of(table.schema), lambda names: arrow.as_table(table.select(list(names)))
    )


def read_stream(content: bytes, has_footer: bool) -> Any:
    """The table in such a file."""
    import pyarrow as pa

    reader = pa.ipc.open_file if has_footer else pa.ipc.open_stream
    table = reader(pa.BufferReader(content)).read_all()
    table.validate(full=True)  # Arrow does not survive positions outside of a column
    return table


def read_path(path: Path) -> Any:
    """The table in the file at a path."""
    content = path.read_bytes()
    return read_stream(content, content.startswith(FILE_MAGIC))


FORMAT = Format("file of Arrow, one row for each vote (.arrow, .feather)", sniff, parse, has_columns=True)
