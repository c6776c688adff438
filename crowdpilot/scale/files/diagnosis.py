"""Diagnosis of votes in many files: label counts of workers over all files, scores of tasks by file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot import io
from crowdpilot.aggregation import Aggregator
from crowdpilot.arrays import Floats, Names
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.progress_bars import StageProgress
from crowdpilot.scale.disk_engine import DiskEngine
from crowdpilot.scale.engine import Engine, no_stage_progress
from crowdpilot.scale.files.aggregation import (
    check_supported,
    fit_partitions,
    path_in_output,
    prepare_output,
)
from crowdpilot.scale.files.distributed_backend import FittedModel
from crowdpilot.scale.files.file_votes import VotesPartition
from crowdpilot.scale.files.sharded_votes import load_shards
from crowdpilot.scale.files.shards import Shards
from crowdpilot.votes import Votes

Columns = Mapping[str, NDArray[Any]]  # by name, with one value for each worker or task


class LabelCounts(NamedTuple):
    """How often each worker gave each label to tasks of each class, over all files."""

    workers: Names
    classes: Names
    votes_per_worker: NDArray[np.int64]  # (workers,)
    counts: Floats  # (workers, true, said), expected under the posterior of the tasks
    gold_votes: Floats  # (workers,) votes on tasks whose class is known
    gold_right: Floats  # (workers,) those of them that are right
    params: Mapping[str, Any]  # estimated parameters of the model


def count_labels_in_files(
    model: Aggregator,
    shards: Shards,
    *,
    engine: Engine | None = None,
    progress: StageProgress = no_stage_progress,
) -> LabelCounts:
    """Count the labels of workers under the posterior of a model; parameters as in `aggregate_files`."""
    check_supported(model)
    with load_shards(shards, engine or DiskEngine(), partial(progress, "reading")) as sharded:
        result, fitted = fit_partitions(model, sharded, progress)
        counts, gold_votes, gold_right = sharded.partitions.sum(count_partition, fitted)
        head = sharded.workers, sharded.classes, sharded.votes_per_worker
        return LabelCounts(*head, counts, gold_votes, gold_right, result.params)


def count_partition(partition: VotesPartition, fitted: FittedModel) -> tuple[Floats, Floats, Floats]:
    """Counts of one partition: (workers, true, said); votes on known tasks; right ones, both (workers,)."""
    votes = partition.named_votes()
    counts = np.ascontiguousarray(count_labels(votes, fitted.aggregate(votes).probs))
    gold = np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold
    known = gold[votes.task]
    right = votes.worker_sum((known == votes.label).astype(np.float64))
    return counts, votes.worker_sum((known >= 0).astype(np.float64)), right


def score_tasks_in_files(
    score: Callable[[Votes], Columns],
    shards: Shards,
    *,
    output: str | os.PathLike[str],
    returned_rows: int = 0,
    engine: Engine | None = None,
    progress: StageProgress = no_stage_progress,
) -> list[Columns]:
    """Write a table of scores for each file, and return the first rows of each.

    Parameters
    ----------
    score
        From the votes of some tasks to columns, the most important tasks first; a function that other
        processes can import.
    shards
        The files.
    output
        Folder for the tables, one Parquet file for each of the shards and of the same name.
    returned_rows
        How many rows of each table to return.
    engine, progress
        As in `aggregate_files`.
    """
    folder = Path(os.path.abspath(output))
    prepare_output(shards, folder)
    scoring = Scoring(score, (str(shards.folder), str(folder)), returned_rows)
    with load_shards(shards, engine or DiskEngine(), partial(progress, "reading")) as sharded:
        return list(sharded.partitions.map(score_partition, scoring, progress=partial(progress, "writing")))


class Scoring(NamedTuple):
    """How to score the tasks of a partition, and where to write the scores."""

    score: Callable[[Votes], Columns]
    folders: tuple[str, str]  # where the shards are, and where their scores go
    returned_rows: int


def score_partition(partition: VotesPartition, scoring: Scoring) -> Columns:
    """Write the scores of one partition, and return the first rows."""
    columns = scoring.score(partition.named_votes())
    io.write_table(columns, path_in_output(partition, *scoring.folders))
    return {name: values[: scoring.returned_rows] for name, values in columns.items()}
