"""What can be said of workers and tasks by sums over many files, or by each file alone."""

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
from crowdpilot.scale.distributed_backend import Labeller, Tell, say_nothing
from crowdpilot.scale.engines import Disk, Engine
from crowdpilot.scale.files.aggregate import check_possible, fit, make_targets
from crowdpilot.scale.files.file_contents import Part
from crowdpilot.scale.files.shards import Shards
from crowdpilot.scale.files.shared_codes import gather
from crowdpilot.votes import Votes

Columns = Mapping[str, NDArray[Any]]  # by name, with one value for each worker or task


class Record(NamedTuple):
    """What the workers said of tasks of each class, over all files."""

    workers: Names
    classes: Names
    given: NDArray[np.int64]  # (workers,) votes
    counts: Floats  # (workers, true, said) labels by what is believed of their tasks
    tried: Floats  # (workers,) votes on tasks whose class is known
    right: Floats  # (workers,) those that were right
    params: Mapping[str, Any]  # what the model estimated


def record_workers(
    model: Aggregator, shards: Shards, *, on: Engine | None = None, tell: Tell = say_nothing
) -> Record:
    """Count what workers said, by the labels that a model gives; see `aggregate` for the parameters."""
    check_possible(model)
    with gather(shards, on or Disk(), partial(tell, "reading")) as gathered:
        fitted, labeller = fit(model, gathered, tell)
        counts, tried, right = gathered.held.total(count_part, labeller)
        head = gathered.workers, gathered.classes, gathered.given
        return Record(*head, counts, tried, right, fitted.params)


def count_part(part: Part, labeller: Labeller) -> tuple[Floats, Floats, Floats]:
    """The counts of one part: by class, on known tasks, and those that were right."""
    votes = part.named()
    counts = np.ascontiguousarray(count_labels(votes, labeller.label(votes).probs))
    gold = np.full(len(votes.tasks), -1, np.int32) if votes.gold is None else votes.gold
    known = gold[votes.task]
    right = votes.worker_sum((known == votes.label).astype(np.float64))
    return counts, votes.worker_sum((known >= 0).astype(np.float64)), right


class Score(NamedTuple):
    """A score of tasks that needs their own votes alone."""

    table: Callable[[Votes], Columns]  # with the rows to look at first in front
    folders: tuple[str, str]  # where the shards are, and where their scores go
    shown: int


def score_tasks(
    table: Callable[[Votes], Columns],
    shards: Shards,
    *,
    output: str | os.PathLike[str],
    shown: int = 0,
    on: Engine | None = None,
    tell: Tell = say_nothing,
) -> list[Columns]:
    """Write a table for each file, and return the first rows of each.

    Parameters
    ----------
    table
        The columns that belong to the votes of some tasks; a function that other processes can
        import.
    shards
        The files.
    output
        Folder for the tables, one Parquet file for each of the shards and of the same name.
    shown
        How many rows of each to return.
    on
        A `Cluster`; this machine if not given.
    tell
        Called with what is being done, how much of it is done, and of how much.
    """
    folder = Path(os.path.abspath(output))
    make_targets(shards, folder)
    score = Score(table, (str(shards.folder), str(folder)), shown)
    with gather(shards, on or Disk(), partial(tell, "reading")) as gathered:
        return list(gathered.held.each(score_part, score, tell=partial(tell, "writing")))


def score_part(part: Part, score: Score) -> Columns:
    """Write the scores of one part, and return the first."""
    columns = score.table(part.named())
    source, target = score.folders
    io.write_table(columns, Path(target) / Path(part.path).relative_to(source))
    return {name: values[: score.shown] for name, values in columns.items()}
