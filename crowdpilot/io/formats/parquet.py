"""Votes in a Parquet file, or in a folder of them."""

from __future__ import annotations

from pathlib import Path

from crowdpilot.arrays import need_arrow
from crowdpilot.io.engine import Table
from crowdpilot.io.errors import failures
from crowdpilot.io.format import Format, Raw
from crowdpilot.io.source import PACKED, Source
from crowdpilot.io.tables import to_table
from crowdpilot.votes import Votes

MAGIC = b"PAR1"


def sniff(source: Source) -> bool:
    """Whether it begins like one, or is a folder that holds one."""
    return source.head.startswith(MAGIC) or (source.path.is_dir() and any(source.path.glob("*.parquet")))


def parse(source: Source) -> Raw:
    """Only the columns that matter."""
    need_arrow(f"{source.path}: Parquet")
    import pyarrow.parquet as pq

    try:
        schema = pq.ParquetDataset(source.path).schema
        roles = source.roles(schema.names)
        names = [name for name in schema.names if name in roles.values()]
        table = pq.read_table(source.path, columns=names)
    except failures(OSError) as error:
        reason = str(error).splitlines()[0]
        raise source.error(f"found a broken Parquet file ({reason}), expected a whole one") from error
    return Raw(table, roles, source.columns.keys(), schema.names, name=str(source.path))


def write(votes: Votes, path: Path) -> None:
    """A row for each vote."""
    write_parquet(to_table(votes), path)


def write_parquet(table: Table, path: Path) -> None:
    """Write any table."""
    if path.suffix in PACKED:
        raise ValueError(f"{path.name}: a Parquet file is packed already, expected no {path.suffix}")
    need_arrow("Parquet")
    import pyarrow.parquet as pq

    pq.write_table(table, path)


FORMAT = Format(
    "Parquet file, one row for each vote", sniff, parse, write, (".parquet", ".pq"), has_columns=True
)
