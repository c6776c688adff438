"""The votes of one Parquet file: read, summarized, and encoded with the codes of all files.

These are the functions that an engine runs on each file; every one is pure.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crowdpilot import io
from crowdpilot.arrays import Codes, Names
from crowdpilot.io.arrow import names_array
from crowdpilot.io.inference.column_roles import resolve
from crowdpilot.scale.files.name_hashes import Hashes, hash_names
from crowdpilot.votes import Votes

ROLES_OF_COLUMNS = ("task", "worker", "label", "weight", "gold")  # columns that all files must share


@dataclass(frozen=True, eq=False)
class FileVotes:
    """The votes of one file with codes of its own; `votes.tasks` are numbers, names are in `task_names`."""

    path: str
    columns: Mapping[str, str]  # the name of the column of each role
    votes: Votes
    task_names: pa.Array


class FileSummary(NamedTuple):
    """What has to be known of one file to give all files the same codes."""

    path: str
    columns: Mapping[str, str]
    workers: pa.Array
    votes_per_worker: NDArray[np.int64]
    classes: pa.Array
    n_tasks: int
    dropped: int  # rows that hold no vote
    are_shares: bool  # whether it holds shares of a whole crowd instead of votes


class SharedCodes(NamedTuple):
    """The codes of one file's workers and classes among those of all files."""

    workers: Codes  # code of each worker of the file; -1 if excluded
    classes: Codes  # code of each class of the file
    n_workers: int  # in all files
    class_names: Names
    gold: Mapping[Any, Any]  # true labels of some tasks of the file, by name


@dataclass(frozen=True, eq=False)
class VotesPartition:
    """The merged votes of one file with the codes of all files."""

    path: str
    votes: Votes  # with numbers in place of names
    task_names: pa.Array
    classes: Names
    votes_per_task: NDArray[np.int64] | None  # before merging, if merging has changed the number of votes

    def named_votes(self) -> Votes:
        """The votes with the names of tasks and classes."""
        return replace(self.votes, tasks=to_numpy(self.task_names), classes=self.classes)

    def __sizeof__(self) -> int:
        arrays = (sys.getsizeof(value) for value in vars(self.votes).values())
        return sum(arrays) + int(self.task_names.nbytes)


def read_file(path: str, options: Mapping[str, Any]) -> FileVotes:
    """Read the votes of a Parquet file, with the options of `crowdpilot.read`."""
    if not os.path.isfile(path):
        raise ValueError(
            f"{path} is not there for the process on {socket.gethostname()}; "
            "all processes must reach the files under the same path"
        )
    votes = io.read(path, format="parquet", **options)
    roles = resolve(pq.read_schema(path).names, options["columns"]).columns
    columns = {role: name for role, name in roles.items() if role in ROLES_OF_COLUMNS}
    numbered = replace(votes, tasks=np.arange(len(votes.tasks)), seconds=None, time=None)
    return FileVotes(path, columns, numbered, names_array(votes.tasks))


def summarize_file(file: FileVotes, _: None = None) -> FileSummary:
    """Names of workers and classes, and numbers of votes and tasks."""
    votes = file.votes
    return FileSummary(
        file.path,
        file.columns,
        names_array(votes.workers),
        np.bincount(votes.worker, minlength=len(votes.workers)),
        names_array(votes.classes),
        len(votes.tasks),
        votes.dropped,
        votes.are_shares,
    )


def tasks_among(file: FileVotes, names: set[str]) -> list[str]:
    """The tasks of a file, as text, that are among these names."""
    texts = file.task_names.cast(pa.string()).to_pylist()
    return [text for text in texts if text in names]


def encode_file(file: FileVotes, codes: SharedCodes) -> VotesPartition:
    """The votes of a file with the codes of all files, without excluded workers, merged."""
    own = file.votes
    gold = None if own.gold is None else np.append(codes.classes, np.int32(-1))[own.gold]
    votes = Votes(
        own.task, np.maximum(codes.workers[own.worker], 0), codes.classes[own.label], own.tasks,
        np.arange(codes.n_workers), np.arange(len(codes.class_names)), weight=own.weight, gold=gold,
    )  # fmt: skip
    if (codes.workers < 0).any():
        votes = votes.take(codes.workers[own.worker] >= 0)
    if codes.gold:
        votes = replace(votes, gold=_combined_gold(file, votes, codes))
    merged = votes.merged
    per_task = None if len(merged) == len(votes) else np.bincount(votes.task, minlength=len(votes.tasks))
    if merged.weight is not None and (merged.weight == 1).all():
        merged = replace(merged, weight=None)
    _ = merged.cell, merged.starts  # cached here, because they are stored with it and used in all iterations
    return VotesPartition(file.path, merged, file.task_names, codes.class_names, per_task)


def _combined_gold(file: FileVotes, votes: Votes, codes: SharedCodes) -> Codes:
    """Class of each task by the gold labels of all files, else by those in the file, else -1; (tasks,)."""
    named = replace(votes, tasks=to_numpy(file.task_names), classes=codes.class_names).with_gold(codes.gold)
    if named.gold is None or votes.gold is None:
        return np.full(len(votes.tasks), -1, np.int32) if named.gold is None else named.gold
    return np.where(named.gold >= 0, named.gold, votes.gold)


def to_numpy(names: pa.Array) -> Names:
    """Names as an array of `Votes`."""
    array: Names = names.to_numpy(zero_copy_only=False)
    return array


def hashes_with_remainder(file: FileVotes, division: tuple[int, int]) -> Hashes:
    """Those hashes of tasks that leave the remainder `division[0]` when divided by `division[1]`."""
    remainder, divisor = division
    hashes = hash_names(file.task_names)
    selected: Hashes = hashes[hashes % np.uint64(divisor) == remainder]
    return selected


def tasks_with_hash(file: FileVotes, hashed: np.uint64) -> list[Any]:
    """The names of the tasks of a file with this hash."""
    names: list[Any] = file.task_names.filter(pa.array(hash_names(file.task_names) == hashed)).to_pylist()
    return names
