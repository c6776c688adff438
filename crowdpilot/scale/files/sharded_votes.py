"""Votes of many files loaded on an engine, with one set of codes of workers and classes for all files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Names
from crowdpilot.names import natural_order, to_names
from crowdpilot.scale.engine import Engine, Partitions, Progress
from crowdpilot.scale.files.file_votes import (
    FileSummary,
    SharedCodes,
    encode_file,
    hashes_with_remainder,
    read_file,
    summarize_file,
    tasks_among,
    tasks_with_hash,
    to_numpy,
)
from crowdpilot.scale.files.shards import Shards
from crowdpilot.votes import Votes

MAX_HASHES_IN_MEMORY = 1 << 24  # hashes of tasks that are compared at the same time


class ShardedVotes(NamedTuple):
    """The votes of all files as partitions on an engine."""

    partitions: Partitions  # a `VotesPartition` for each file
    workers: Names  # in the order of their first vote, without excluded ones
    classes: Names
    votes_per_worker: NDArray[np.int64]  # (workers,)
    n_tasks: int
    dropped: int  # rows that hold no vote
    excluded_workers: int
    excluded_votes: int
    are_shares: bool  # whether these are shares of one crowd instead of votes

    @property
    def n_votes(self) -> int:
        """Number of votes that count."""
        return int(self.votes_per_worker.sum())

    @property
    def empty_votes(self) -> Votes:
        """All workers and classes, and one task without a vote: enough for the M-step of a model."""
        none = np.zeros(0, np.int32)
        return Votes(none, none, none, np.zeros(1, np.int64), self.workers, self.classes)


@contextmanager
def load_shards(shards: Shards, engine: Engine, progress: Progress) -> Iterator[ShardedVotes]:
    """Read all files and give their workers and classes codes as if they were one file.

    Workers come in the order of their first appearance and classes in their natural order, so that
    the codes do not depend on how the votes are divided into files.
    """
    with engine.load(partial(read_file, options=shards.read_options), shards.files, progress) as files:
        summaries = list(files.map(summarize_file))
        _check_columns(summaries)
        _check_tasks(files, summaries)
        workers, worker_codes = merge_names([s.workers for s in summaries], "workers")
        per_worker = sum_by_code(worker_codes, [s.votes_per_worker for s in summaries], len(workers))
        included = _included(shards, workers, per_worker)
        new_code = np.where(included, np.cumsum(included) - 1, -1).astype(np.int32)
        classes, class_codes = _merge_classes(shards, summaries)
        gold = _gold_of_files(files, shards)
        n_workers = int(included.sum())
        codes = [
            SharedCodes(new_code[own_workers], own_classes, n_workers, classes, own_gold)
            for own_workers, own_classes, own_gold in zip(worker_codes, class_codes, gold, strict=True)
        ]
        yield ShardedVotes(
            partitions=files.replace(encode_file, codes),
            workers=workers[included],
            classes=classes,
            votes_per_worker=per_worker[included],
            n_tasks=sum(s.n_tasks for s in summaries),
            dropped=sum(s.dropped for s in summaries),
            excluded_workers=int((~included).sum()),
            excluded_votes=int(per_worker[~included].sum()),
            are_shares=len(workers) == 1 and any(s.are_shares for s in summaries),
        )


def merge_names(names: Sequence[pa.Array], what: str) -> tuple[Names, list[Codes]]:
    """All names in the order of their first appearance, and the codes of each file's own names."""
    types = {array.type for array in names if len(array)}
    if types == {pa.int64(), pa.float64()}:
        types = {pa.float64()}
    if len(types) > 1:
        listed = " and ".join(sorted(map(str, types)))
        raise ValueError(f"the {what} are {listed} in different files, expected one type in all")
    common = types.pop() if types else pa.string()
    encoded = pa.concat_arrays([array.cast(common) for array in names]).dictionary_encode()
    ends = np.cumsum([len(array) for array in names])[:-1]
    codes = np.split(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32), ends)
    return to_numpy(encoded.dictionary), codes


def sum_by_code(codes: Sequence[Codes], counts: Sequence[NDArray[np.int64]], size: int) -> NDArray[np.int64]:
    """Sum the counts of all files by code, (size,); the codes of one file are distinct."""
    total = np.zeros(size, np.int64)
    for own_codes, own_counts in zip(codes, counts, strict=True):
        total[own_codes] += own_counts
    return total


def _merge_classes(shards: Shards, summaries: Sequence[FileSummary]) -> tuple[Names, list[Codes]]:
    if shards.classes is not None:
        classes = to_names(list(shards.classes))
        return classes, [np.arange(len(classes), dtype=np.int32)] * len(summaries)
    names, codes = merge_names([s.classes for s in summaries], "labels")
    order = natural_order(names)
    rank = np.argsort(order).astype(np.int32)
    return names[order], [rank[own] for own in codes]


def _gold_of_files(files: Partitions, shards: Shards) -> list[dict[str, Any]]:
    """Those true labels of `shards.gold` that belong to the tasks of each file."""
    if not shards.gold:
        return [{} for _ in shards.files]
    gold = {str(task): label for task, label in shards.gold.items()}
    return [{task: gold[task] for task in tasks} for tasks in files.map(tasks_among, set(gold))]


def _check_columns(summaries: Sequence[FileSummary]) -> None:
    first, *others = summaries
    for other in others:
        if other.columns != first.columns:
            found, expected = (
                ", ".join(f"{role}={name}" for role, name in sorted(s.columns.items()))
                for s in (other, first)
            )
            raise ValueError(
                f"{other.path}: found the columns {found}, expected {expected} as in {first.path}"
            )


def _included(shards: Shards, workers: Names, per_worker: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the votes of each worker count, (workers,)."""
    excluded = set(map(str, shards.exclude))
    if not excluded:
        return np.ones(len(workers), bool)
    included = np.asarray([str(name) not in excluded for name in workers.tolist()], bool)
    if included.all():
        raise ValueError(f"none of the {len(workers)} workers is among the excluded ones")
    if not per_worker[included].any():
        raise ValueError("all workers are excluded, so that no vote is left")
    return included


def _check_tasks(files: Partitions, summaries: Sequence[FileSummary]) -> None:
    """Raise if a task has votes in two files; hashes are compared in passes that bound the memory."""
    passes = 1 + sum(s.n_tasks for s in summaries) // MAX_HASHES_IN_MEMORY
    for remainder in range(passes):
        hashes = np.sort(np.concatenate(list(files.map(hashes_with_remainder, (remainder, passes)))))
        for repeated in np.unique(hashes[1:][hashes[1:] == hashes[:-1]]):
            tasks = list(files.map(tasks_with_hash, repeated))
            _check_distinct([(task, s.path) for s, own in zip(summaries, tasks, strict=True) for task in own])


def _check_distinct(tasks: list[tuple[Any, str]]) -> None:
    """Raise if two of these pairs of a task and a path have the same task; 2 and 2.0 are the same."""
    paths: dict[Any, str] = {}
    for task, path in tasks:
        if task in paths:
            raise ValueError(
                f"task {str(task)!r} has votes in {paths[task]} and in {path}, expected all votes of a task "
                "in one file; `crowdpilot convert IN OUT --shards N` writes such files"
            )
        paths[task] = path
