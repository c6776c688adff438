"""Votes of any files into new ones, with all votes of a task in one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crowdpilot.io.arrow import arrow_table, names_array
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.io.votes_tables import votes_columns
from crowdpilot.scale.files.file_contents import hash_array
from crowdpilot.scale.files.simulate import check_new, file_names
from crowdpilot.votes import Votes


def write_shards(batches: Iterable[Votes], folder: str | os.PathLike[str], shards: int) -> int:
    """Write votes as so many Parquet files by the hash of their task, and return how many they are.

    Votes on a task stay in their order. One batch is in memory at a time.

    Parameters
    ----------
    batches
        Votes that may have tasks in common, with columns of the same types.
    folder
        A folder that is new or empty.
    shards
        How many files.
    """
    if shards < 1:
        raise ValueError(f"{shards} files were asked for, expected 1 or more")
    check_new(Path(folder))
    total = 0
    with atomic_path(folder) as draft, ExitStack() as opened:
        draft.mkdir()
        writers: list[pq.ParquetWriter] = []
        for votes in batches:
            table, shard = _cut(votes, shards)
            if not writers:
                files = (pq.ParquetWriter(draft / name, table.schema) for name in file_names(shards))
                writers = [opened.enter_context(file) for file in files]
            _write(table, shard, writers)
            total += len(votes)
    return total


def _cut(votes: Votes, shards: int) -> tuple[pa.Table, np.ndarray]:
    """Rows in the order of the files they go to, and the number of that file for each."""
    table = arrow_table(votes_columns(votes))
    of_task = (hash_array(names_array(votes.tasks)) % np.uint64(shards)).astype(np.int64)
    shard = of_task[np.asarray(table["task"].combine_chunks().indices)]
    order = np.argsort(shard, kind="stable")
    plain = {name: table[name].combine_chunks() for name in table.column_names}
    decoded = {n: c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for n, c in plain.items()}
    return pa.table(decoded).take(order), shard[order]


def _write(table: pa.Table, shard: np.ndarray, writers: list[pq.ParquetWriter]) -> None:
    schema = writers[0].schema
    if table.schema.names != schema.names:
        found, expected = ", ".join(table.schema.names), ", ".join(schema.names)
        raise ValueError(f"a file has the columns {found}, expected {expected} as in the first")
    ends = np.searchsorted(shard, np.arange(len(writers) + 1))
    for n, writer in enumerate(writers):
        if ends[n + 1] > ends[n]:
            writer.write_table(table.slice(ends[n], ends[n + 1] - ends[n]).cast(schema))
