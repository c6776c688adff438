"""The same models over many files, on this machine or on a cluster."""

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
from crowdpilot.scale.distributed_backend import Labeller, Spread, Tell, say_nothing
from crowdpilot.scale.engines import Disk, Engine
from crowdpilot.scale.files.file_contents import Part
from crowdpilot.scale.files.shards import Shards
from crowdpilot.scale.files.shared_codes import Gathered, gather

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Summary:
    """What is known when all files are done; the labels of tasks are in the files of `output`.

    Parameters
    ----------
    model
        The settings.
    votes, tasks, dropped
        How many there are, and how many rows were no votes.
    excluded
        How many workers do not count, and how many votes of theirs.
    workers, classes
        Their names, in the order in which one file with all votes would have them.
    given
        (workers,); how many votes each one gave.
    skill
        (workers,); how often each one is right.
    params
        What the model estimated, by name.
    trace, converged
        The objective after each round, and whether it settled.
    files
        Where the labels are; empty if none were asked for.
    """

    model: Aggregator
    votes: int
    tasks: int
    dropped: int
    excluded: tuple[int, int]
    workers: Names
    classes: Names
    given: NDArray[np.int64]
    skill: Floats
    params: dict[str, Any]
    trace: tuple[float, ...]
    converged: bool
    files: tuple[Path, ...]

    def __repr__(self) -> str:
        sizes = f"{self.votes} votes, {self.tasks} tasks, {len(self.workers)} workers"
        return f"Summary({sizes}, {len(self.classes)} classes by {self.model})"

    def to_workers_table(self) -> pa.Table:
        """Arrow table with a row for each worker: skill, number of votes, the model's own numbers."""
        import pyarrow as pa

        own = {name: self.params[name] for name in self.model.per_worker if name in self.params}
        return pa.table({"worker": self.workers, "skill": self.skill, "votes": self.given} | own)


def aggregate(
    model: Aggregator,
    shards: Shards,
    *,
    on: Engine | None = None,
    output: str | os.PathLike[str] | None = None,
    probs: bool = False,
    tell: Tell = say_nothing,
) -> Summary:
    """Estimate the class of every task and the skill of every worker in many files.

    The answer is that of one file with all votes. Votes stay where they are read; what travels are
    the parameters of the workers and the counts of the model.

    Parameters
    ----------
    model
        Any that works in rounds, or that looks at each task alone (`possible`).
    shards
        The files.
    on
        A `Cluster`; this machine if not given, with codes in a temporary folder on disk.
    output
        Folder for the labels, one Parquet file for each of the shards and of the same name.
    probs
        Whether to add a column for each class.
    tell
        Called with what is being done, how much of it is done, and of how much.
    """
    check_possible(model)
    folder = None if output is None else Path(os.path.abspath(output))
    targets = () if folder is None else make_targets(shards, folder)
    with gather(shards, on or Disk(), partial(tell, "reading")) as gathered:
        if gathered.shares and model.name not in MODELS_OF_SHARES:
            raise ValueError(
                f"{model.name} cannot learn from the shares of a whole crowd; choose {MODELS_OF_SHARES[0]}"
            )
        fitted, labeller = fit(model, gathered, tell)
        job = Job(labeller, None if folder is None else (str(shards.folder), str(folder)), probs)
        right, given = np.zeros(len(gathered.workers)), np.zeros(len(gathered.workers))
        for own_right, own_given in gathered.held.each(label, job, tell=partial(tell, "writing")):
            right += own_right
            given += own_given
        return Summary(
            model, gathered.votes, gathered.tasks, gathered.dropped, gathered.excluded,
            gathered.workers, gathered.classes, gathered.given, divide(right, given),
            dict(fitted.params), fitted.trace, fitted.converged, targets,
        )  # fmt: skip


def make_targets(shards: Shards, folder: Path) -> tuple[Path, ...]:
    """A path in the folder for each of the shards; it may hold no others, as from an earlier cut."""
    if any(Path(file).is_relative_to(folder) for file in shards.files):
        raise ValueError(f"{folder} holds the votes themselves, expected another one for what is written")
    targets = tuple(folder / name for name in shards.names)
    if other := sorted({*folder.rglob("*.parquet")} - {*targets}):
        raise ValueError(f"{other[0]} belongs to other votes: remove it, or choose another folder")
    for parent in {target.parent for target in targets}:
        parent.mkdir(parents=True, exist_ok=True)
    return targets


def possible() -> list[str]:
    """The names of the models that can be spread over many files."""
    return [name for name, model in MODELS.items() if _is_possible(model)]


def check_possible(model: Aggregator) -> None:
    """Raise if a model cannot be spread over many files."""
    if not _is_possible(type(model)):
        raise ValueError(
            f"{model.name} needs all votes at once and cannot be spread over many files; "
            f"choose one of {', '.join(possible())}"
        )


def _is_possible(model: type[Aggregator]) -> bool:
    return model.name in MODELS_OF_SHARES or (issubclass(model, EM) and model.additive_counts)


class Job(NamedTuple):
    """What to do with each part at the end."""

    labeller: Labeller
    folders: tuple[str, str] | None  # where the shards are, and where their labels go
    probs: bool


def fit(model: Aggregator, gathered: Gathered, tell: Tell) -> tuple[Aggregate, Labeller]:
    """What a model says of the workers, and how tasks are labelled by it."""
    if not isinstance(model, EM) or len(gathered.classes) < 2:
        return Aggregate(gathered.outline, np.zeros((0, 0)), np.zeros(0)), Labeller(model, None, False)
    spread = Spread(gathered, tell)
    fitted = model.fit(gathered.outline, backend=spread)
    return fitted, spread.last


def label(part: Part, job: Job) -> tuple[Floats, Floats]:
    """Write the labels of one part; how much of each worker's votes is right, and how much there is."""
    result = job.labeller.label(part.named())
    if job.folders is not None:
        source, target = job.folders
        io.write_table(_table(result, part, job.probs), Path(target) / Path(part.path).relative_to(source))
    given = result.votes.worker_sum()
    return np.where(given > 0, result.skill * given, 0.0), given


def _table(result: Aggregate, part: Part, probs: bool) -> pa.Table:
    """The table of tasks, with columns of the same types also where a file has no task."""
    import pyarrow as pa

    table = result.to_table(probs=probs)
    columns = {"task": part.names, "label": table["label"].cast(names_array(part.classes).type)}
    if part.given is not None:
        columns["votes"] = pa.array(part.given)
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table
