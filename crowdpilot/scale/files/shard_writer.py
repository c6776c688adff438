"""Any votes to new Parquet files, with all votes of a task in one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crowdpilot.io.arrow import arrow_table, names_array
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.io.votes_tables import votes_columns
from crowdpilot.scale.files.name_hashes import hash_names
from crowdpilot.votes import Votes


def write_shards(batches: Iterable[Votes], folder: str | os.PathLike[str], shards: int) -> int:
    """Write votes to several Parquet files by the hash of their task, and return the number of votes.

    Votes on a task stay in their order. One batch is in memory at a time.

    Parameters
    ----------
    batches
        Votes that may have tasks in common, with columns of the same types.
    folder
        A folder that is new or empty.
    shards
        Number of files.
    """
    if shards < 1:
        raise ValueError(f"{shards} files were asked for, expected 1 or more")
    check_new(Path(folder))
    total = 0
    with atomic_path(folder) as draft, ExitStack() as open_files:
        draft.mkdir()
        writers: list[pq.ParquetWriter] = []
        for votes in batches:
            table, shard = _rows_by_shard(votes, shards)
            if not writers:
                files = (pq.ParquetWriter(draft / name, table.schema) for name in shard_names(shards))
                writers = [open_files.enter_context(file) for file in files]
            _write(table, shard, writers)
            total += len(votes)
    return total


def check_new(folder: Path | None) -> None:
    """Raise if a folder exists and is not empty."""
    if folder is not None and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(f"{folder} exists already, expected a folder that is new or empty")


def shard_names(shards: int) -> list[str]:
    """File names of this many shards, which sort by number."""
    return [f"part-{n:0{max(5, len(str(shards)))}}.parquet" for n in range(shards)]


def _rows_by_shard(votes: Votes, shards: int) -> tuple[pa.Table, NDArray[np.int64]]:
    """A row for each vote, sorted by the shard that it goes to; and that shard, (votes,)."""
    table = arrow_table(votes_columns(votes))
    of_task = (hash_names(names_array(votes.tasks)) % np.uint64(shards)).astype(np.int64)
    shard = of_task[np.asarray(table["task"].combine_chunks().indices)]
    order = np.argsort(shard, kind="stable")
    plain = {name: table[name].combine_chunks() for name in table.column_names}
    decoded = {n: c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for n, c in plain.items()}
    return pa.table(decoded).take(order), shard[order]


def _write(table: pa.Table, shard: NDArray[np.int64], writers: list[pq.ParquetWriter]) -> None:
    schema = writers[0].schema
    if table.schema.names != schema.names:
        found, expected = ", ".join(table.schema.names), ", ".join(schema.names)
        raise ValueError(f"a file has the columns {found}, expected {expected} as in the first")
    ends = np.searchsorted(shard, np.arange(len(writers) + 1))
    for n, writer in enumerate(writers):
        if ends[n + 1] > ends[n]:
            writer.write_table(table.slice(ends[n], ends[n + 1] - ends[n]).cast(schema))
