"""Simulation of a crowd of any size: votes drawn and written file by file, never all at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from crowdpilot import io
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.scale.disk_engine import DiskEngine
from crowdpilot.scale.engine import Engine, Progress, no_progress
from crowdpilot.scale.files.shard_writer import check_new, shard_names
from crowdpilot.simulation import Crowd


def simulate_files(
    crowd: Crowd,
    folder: str | os.PathLike[str],
    shards: int,
    *,
    engine: Engine | None = None,
    truth: str | os.PathLike[str] | None = None,
    progress: Progress = no_progress,
) -> int:
    """Write the votes of a crowd to several Parquet files, and return the number of votes.

    The same workers vote in all files, and each file has a random stream of its own: the votes depend
    on the seed and the number of files alone.

    Parameters
    ----------
    crowd
        Settings of the crowd.
    folder
        A folder that is new or empty.
    shards
        Number of files.
    engine
        A `DaskEngine`; by default this machine.
    truth
        A folder, new or empty, for the true labels.
    progress
        Called with the number of files that are done, and of all.
    """
    if not 0 < shards <= crowd.tasks:
        raise ValueError(f"{shards} files were asked for, expected 1 to {crowd.tasks}, one for each task")
    votes_folder, truth_folder = Path(folder), None if truth is None else Path(truth)
    for new in (votes_folder, truth_folder):
        check_new(new)
    truth_path = nullcontext() if truth_folder is None else atomic_path(truth_folder)
    with atomic_path(votes_folder) as votes_draft, truth_path as truth_draft:
        numbers = {str(votes_draft / name): n for n, name in enumerate(shard_names(shards))}
        for draft in (votes_draft, truth_draft):
            if draft is not None:
                draft.mkdir()
        write = partial(simulate_shard, crowd=crowd, numbers=numbers, truth=truth_draft)
        with (engine or DiskEngine()).load(write, list(numbers), progress) as sizes:
            return sum(sizes.map(identity))


def simulate_shard(path: str, crowd: Crowd, numbers: Mapping[str, int], truth: Path | None) -> int:
    """Draw and write the votes of one file, whose number is `numbers[path]`; return how many they are."""
    simulation = crowd.shard(numbers[path], len(numbers))
    votes = simulation.votes
    io.write(votes, path, format="parquet")
    if truth is not None:
        table = {"task": votes.tasks, "label": votes.classes[simulation.truth]}
        io.write_table(table, truth / os.path.basename(path))
    return len(votes)


def identity(partition: int, _: None) -> int:
    """The partition as it is."""
    return partition
