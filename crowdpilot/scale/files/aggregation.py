"""Aggregation of votes in many files, on this machine or on a cluster: labels in as many files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot import io
from crowdpilot.aggregation import EM, MODELS, Aggregate, Aggregator
from crowdpilot.aggregation.registry import MODELS_OF_SHARES
from crowdpilot.arrays import Floats, Names, divide
from crowdpilot.io.arrow import names_array
from crowdpilot.progress_bars import StageProgress, stage_progress
from crowdpilot.scale.disk_engine import DiskEngine
from crowdpilot.scale.engine import Engine
from crowdpilot.scale.files.distributed_backend import DistributedBackend, FittedModel
from crowdpilot.scale.files.file_votes import VotesPartition
from crowdpilot.scale.files.sharded_votes import ShardedVotes, load_shards
from crowdpilot.scale.files.shards import Shards

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class FilesAggregate:
    """Result of `aggregate_files`; the labels of the tasks are in `label_files`.

    Parameters
    ----------
    model
        The settings.
    n_votes, n_tasks, dropped
        Number of votes, of tasks, and of rows that hold no vote.
    excluded_workers, excluded_votes
        Number of workers who do not count, and of their votes.
    workers, classes
        Their names, in the order in which one file with all votes would have them.
    votes_per_worker
        (workers,).
    skill
        (workers,); expected share of correct votes of each worker.
    params
        Estimated parameters of the model, by name.
    trace, converged
        The objective after each iteration, and whether it converged.
    label_files
        Where the labels are; empty if none were asked for.
    """

    model: Aggregator
    n_votes: int
    n_tasks: int
    dropped: int
    excluded_workers: int
    excluded_votes: int
    workers: Names
    classes: Names
    votes_per_worker: NDArray[np.int64]
    skill: Floats
    params: dict[str, Any]
    trace: tuple[float, ...]
    converged: bool
    label_files: tuple[Path, ...]

    def __repr__(self) -> str:
        sizes = f"{self.n_votes} votes, {self.n_tasks} tasks, {len(self.workers)} workers"
        return f"FilesAggregate({sizes}, {len(self.classes)} classes by {self.model})"

    def to_workers_table(self) -> pa.Table:
        """Arrow table with a row for each worker: skill, number of votes, parameters of the model."""
        import pyarrow as pa

        own = {name: self.params[name] for name in self.model.per_worker if name in self.params}
        return pa.table({"worker": self.workers, "skill": self.skill, "votes": self.votes_per_worker} | own)


def aggregate_files(
    model: Aggregator,
    shards: Shards,
    *,
    engine: Engine | None = None,
    output: str | os.PathLike[str] | None = None,
    probs: bool = False,
    progress: StageProgress | bool = False,
) -> FilesAggregate:
    """Estimate the class of every task and the skill of every worker in many files.

    The result is that of one file with all votes. Votes stay where they are read; what travels are
    the parameters of the model and its expected counts.

    Parameters
    ----------
    model
        Any EM model with additive counts, or any that looks at each task alone (`supported_models`).
    shards
        The files.
    engine
        A `DaskEngine`; by default a `DiskEngine`, with codes in a temporary folder of this machine.
    output
        Folder for the labels, one Parquet file for each of the shards and of the same name.
    probs
        Whether to add a column with the probability of each class.
    progress
        True for progress bars, or a function that is called with the stage ("reading", "iterations",
        "writing"), how much of it is done, and of how much.
    """
    check_supported(model)
    folder = None if output is None else Path(os.path.abspath(output))
    label_files = () if folder is None else prepare_output(shards, folder)
    with (
        stage_progress(progress) as report,
        load_shards(shards, engine or DiskEngine(), partial(report, "reading")) as sharded,
    ):
        if sharded.are_shares and model.name not in MODELS_OF_SHARES:
            raise ValueError(
                f"{model.name} cannot learn from the shares of a whole crowd; choose {MODELS_OF_SHARES[0]}"
            )
        result, fitted = fit_partitions(model, sharded, report)
        folders = None if folder is None else (str(shards.folder), str(folder))
        labelling = Labelling(fitted, folders, probs)
        n_workers = len(sharded.workers)
        right, weight = np.zeros(n_workers), np.zeros(n_workers)
        writing = partial(report, "writing")
        for own_right, own_weight in sharded.partitions.map(label_partition, labelling, progress=writing):
            right += own_right
            weight += own_weight
        return FilesAggregate(
            model, sharded.n_votes, sharded.n_tasks, sharded.dropped,
            sharded.excluded_workers, sharded.excluded_votes,
            sharded.workers, sharded.classes, sharded.votes_per_worker, divide(right, weight),
            dict(result.params), result.trace, result.converged, label_files,
        )  # fmt: skip


def prepare_output(shards: Shards, folder: Path) -> tuple[Path, ...]:
    """Paths in the folder for a result of each shard; the folder may hold no results of other shards."""
    if any(Path(file).is_relative_to(folder) for file in shards.files):
        raise ValueError(f"{folder} holds the votes themselves, expected another one for what is written")
    paths = tuple(folder / name for name in shards.names)
    if other := sorted({*folder.rglob("*.parquet")} - {*paths}):
        raise ValueError(f"{other[0]} belongs to other votes: remove it, or choose another folder")
    for parent in {path.parent for path in paths}:
        parent.mkdir(parents=True, exist_ok=True)
    return paths


def supported_models() -> list[str]:
    """The names of the models that can be fitted to votes in many files."""
    return [name for name, model in MODELS.items() if _is_supported(model)]


def check_supported(model: Aggregator) -> None:
    """Raise if a model cannot be fitted to votes in many files."""
    if not _is_supported(type(model)):
        raise ValueError(
            f"{model.name} needs all votes at once and cannot be spread over many files; "
            f"choose one of {', '.join(supported_models())}"
        )


def _is_supported(model: type[Aggregator]) -> bool:
    return model.name in MODELS_OF_SHARES or (issubclass(model, EM) and model.additive_counts)


def fit_partitions(
    model: Aggregator, sharded: ShardedVotes, progress: StageProgress
) -> tuple[Aggregate, FittedModel]:
    """Fit a model: its result for the workers, and the fitted model that labels each partition."""
    if not isinstance(model, EM) or len(sharded.classes) < 2:
        nothing = Aggregate(sharded.empty_votes, np.zeros((0, 0)), np.zeros(0))
        return nothing, FittedModel(model, None, False)
    backend = DistributedBackend(sharded, progress)
    result = model.fit(sharded.empty_votes, backend=backend)
    if backend.fitted is None:
        raise ValueError(f"{model.name} has run no iterations")
    return result, backend.fitted


class Labelling(NamedTuple):
    """How to label a partition, and where to write the labels."""

    fitted: FittedModel
    folders: tuple[str, str] | None  # where the shards are, and where their labels go
    probs: bool


def label_partition(partition: VotesPartition, labelling: Labelling) -> tuple[Floats, Floats]:
    """Write the labels of one partition; expected weight of right votes and of all of each worker."""
    result = labelling.fitted.aggregate(partition.named_votes())
    if labelling.folders is not None:
        table = _tasks_table(result, partition, labelling.probs)
        io.write_table(table, path_in_output(partition, *labelling.folders))
    weight = result.votes.worker_sum()
    return np.where(weight > 0, result.skill * weight, 0.0), weight


def path_in_output(partition: VotesPartition, shards_folder: str, output: str) -> Path:
    """The path of a result of one partition, of the same name as its file of votes."""
    return Path(output) / Path(partition.path).relative_to(shards_folder)


def _tasks_table(result: Aggregate, partition: VotesPartition, probs: bool) -> pa.Table:
    """The table of tasks, with columns of the same types also where a file has no task."""
    import pyarrow as pa

    table = result.to_table(probs=probs)
    label_type = names_array(partition.classes).type
    columns = {"task": partition.task_names, "label": table["label"].cast(label_type)}
    if partition.votes_per_task is not None:
        columns["votes"] = pa.array(partition.votes_per_task)
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table
