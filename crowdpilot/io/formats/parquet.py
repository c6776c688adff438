"""Votes in a Parquet file, or in a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from crowdpilot.arrays import need_arrow
from crowdpilot.io.columns import Table
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import COMPRESSED, Source
from crowdpilot.io.tables.column_files import broken_file_errors, column_votes, names_of
from crowdpilot.io.votes_tables import votes_columns
from crowdpilot.votes import Votes

MAGIC = b"PAR1"


def sniff(source: Source) -> bool:
    """Whether it begins like one, or is a folder that holds one."""
    return source.head.startswith(MAGIC) or (source.path.is_dir() and any(source.path.glob("*.parquet")))


def parse(source: Source) -> VotesTable:
    """Only the columns that matter; numbers of classes become their names."""
    need_arrow(f"{source.path}: Parquet")
    import pyarrow.parquet as pq

    from crowdpilot.io import arrow
    from crowdpilot.io.tables.class_labels import class_names, with_class_names

    def load(names: Sequence[str]) -> Table:
        with broken_file_errors(source, "Parquet file"), arrow.table_errors():
            table = pq.read_table(_file(source), columns=list(names))
            table.validate(full=True)  # bytes that are no text are found only here
        return arrow.as_table(with_class_names(table, classes))

    with broken_file_errors(source, "Parquet file"), arrow.table_errors():
        schema = pq.ParquetDataset(_file(source)).schema
        classes = class_names(schema)
    return column_votes(source, names_of(schema), load)


def _file(source: Source) -> Any:
    return source.path if source.content is None else BytesIO(source.content)


def write(votes: Votes, path: Path) -> None:
    """A row for each vote."""
    write_parquet(votes_columns(votes), path)


def write_parquet(table: Any, path: Path) -> None:
    """Write a mapping of columns, a data frame or a table, the types of its columns unchanged."""
    if path.suffix in COMPRESSED:
        raise ValueError(f"{path.name}: a Parquet file is compressed already, expected no {path.suffix}")
    need_arrow("Parquet")
    import pyarrow.parquet as pq

    from crowdpilot.io import arrow

    with arrow.table_errors():
        pq.write_table(arrow.arrow_table(table), path)


FORMAT = Format(
    "Parquet file, one row for each vote", sniff, parse, write, (".parquet", ".pq"), has_columns=True
)
