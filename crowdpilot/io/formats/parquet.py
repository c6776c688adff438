"""Votes in a Parquet file, or in a folder of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crowdpilot.arrays import need_arrow
from crowdpilot.io.columns import TableError
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import COMPRESSED, Source
from crowdpilot.io.votes_tables import votes_columns
from crowdpilot.votes import Votes

MAGIC = b"PAR1"


def sniff(source: Source) -> bool:
    """Whether it begins like one, or is a folder that holds one."""
    return source.head.startswith(MAGIC) or (source.path.is_dir() and any(source.path.glob("*.parquet")))


def parse(source: Source) -> VotesTable:
    """Only the columns that matter."""
    need_arrow(f"{source.path}: Parquet")
    import pyarrow.parquet as pq

    from crowdpilot.io import arrow

    try:
        with arrow.table_errors():
            schema = pq.ParquetDataset(source.path).schema
            roles = source.roles(schema.names)
            names = [name for name in schema.names if name in roles.values()]
            table = arrow.as_table(pq.read_table(source.path, columns=names))
    except (OSError, TableError) as error:
        reason = str(error).splitlines()[0]
        raise source.error(f"found a broken Parquet file ({reason}), expected a whole one") from error
    return VotesTable(table, roles, source.columns.keys(), schema.names, name=str(source.path))


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
