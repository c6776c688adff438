"""Votes with names, files of their votes, and the comparison of results of files with those of one fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crowdpilot import io
from crowdpilot.aggregation import Aggregator
from crowdpilot.scale import FilesAggregate, Shards, aggregate_files
from crowdpilot.simulation import IndependentConfusion
from crowdpilot.votes import Votes


def make_named_votes() -> Votes:
    """60 tasks of 4 classes with names as text, 5 votes each by 12 workers."""
    votes, _ = IndependentConfusion(tasks=60, workers=12, classes=4, votes_per_task=5, seed=1).run()
    tasks, workers = (
        np.array([f"{kind}{n}" for n in range(size)], object) for kind, size in (("t", 60), ("w", 12))
    )
    return replace(votes, tasks=tasks, workers=workers, classes=np.array(["a", "b", "c", "d"], object))


def write_parts(votes: Votes, folder: Path, shard: Sequence[int], **columns: Any) -> Path:
    """A folder with the votes of each task in the file with the number `shard[task]`."""
    folder.mkdir(exist_ok=True)
    io.write(votes, whole := folder.with_suffix(".parquet"))
    table = pq.read_table(whole)
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    of_vote = np.asarray(shard)[votes.task]
    for n in np.unique(of_vote):
        pq.write_table(table.filter(pa.array(of_vote == n)), folder / f"part-{n}.parquet")
    return folder


def write_rows(path: Path, rows: Sequence[tuple[Any, Any, Any]]) -> None:
    """A file of votes, each of them a task, a worker and a label."""
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    types = [None if rows else pa.string()] * 3
    arrays = [pa.array(list(column), kind) for column, kind in zip(columns, types, strict=True)]
    pq.write_table(pa.table(dict(zip(("task", "worker", "label"), arrays, strict=True))), path)


def collect(result: FilesAggregate) -> dict[str, list[Any]]:
    """The tables of all label files as one."""
    return pa.concat_tables([pq.read_table(file) for file in result.label_files]).to_pydict()


def assert_same_as_one_fit(
    model: Aggregator, whole: Votes, shards: Shards, folder: Path, **options: Any
) -> FilesAggregate:
    """The label files hold the result of one fit of all votes."""
    expected = model.fit(whole)
    result = aggregate_files(model, shards, output=folder, probs=True, **options)
    table = collect(result)
    assert table["task"] == whole.tasks.tolist()
    assert table["label"] == expected.labels.tolist()
    probs = np.stack([table[f"p_{name}"] for name in whole.classes], axis=1)
    np.testing.assert_allclose(probs, expected.probs, atol=1e-7)
    assert table["votes"] == expected.to_table()["votes"].to_pylist()
    assert result.workers.tolist() == whole.workers.tolist()
    assert result.classes.tolist() == whole.classes.tolist()
    np.testing.assert_allclose(result.skill, expected.skill, atol=1e-7)
    np.testing.assert_allclose(result.trace, expected.trace, rtol=1e-9)
    workers, expected_workers = result.to_workers_table(), expected.to_workers_table()
    assert workers.column_names == expected_workers.column_names
    assert workers["votes"].to_pylist() == expected_workers["votes"].to_pylist()
    return result
