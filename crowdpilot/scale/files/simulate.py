"""Crowds of any size: votes are drawn and written file by file, never all at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from crowdpilot import io
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.scale.engines import Count, Disk, Engine, in_silence
from crowdpilot.simulation import Crowd


def simulate(
    crowd: Crowd,
    folder: str | os.PathLike[str],
    shards: int,
    *,
    on: Engine | None = None,
    truth: str | os.PathLike[str] | None = None,
    tell: Count = in_silence,
) -> int:
    """Write the votes of a crowd as so many Parquet files, and return how many there are.

    The same workers vote in all files, each file draws from random numbers of its own, and the
    seed and the number of files decide everything.

    Parameters
    ----------
    crowd
        Settings of the crowd.
    folder
        A folder that is new or empty.
    shards
        How many files.
    on
        A `Cluster`; this machine if not given.
    truth
        A folder, new or empty, for the true labels.
    tell
        Called with how many files are done, and of how many.
    """
    if not 0 < shards <= crowd.tasks:
        raise ValueError(f"{shards} files were asked for, expected 1 to {crowd.tasks}, one for each task")
    target, known = Path(folder), None if truth is None else Path(truth)
    for place in (target, known):
        check_new(place)
    with atomic_path(target) as draft, nullcontext() if known is None else atomic_path(known) as known_draft:
        parts = {str(draft / name): n for n, name in enumerate(file_names(shards))}
        for place in (draft, known_draft):
            if place is not None:
                place.mkdir()
        load = partial(draw, crowd=crowd, parts=parts, truth=known_draft)
        with (on or Disk()).hold(load, list(parts), tell) as held:
            return sum(held.each(itself))


def check_new(folder: Path | None) -> None:
    """Raise if a folder is there already and holds anything."""
    if folder is not None and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(f"{folder} exists already, expected a folder that is new or empty")


def file_names(shards: int) -> list[str]:
    """Names of so many files, in the order of their numbers."""
    return [f"part-{n:0{max(5, len(str(shards)))}}.parquet" for n in range(shards)]


def draw(path: str, crowd: Crowd, parts: Mapping[str, int], truth: Path | None) -> int:
    """Write one part of the votes, and return how many they are."""
    simulation = crowd.shard(parts[path], len(parts))
    votes = simulation.votes
    io.write(votes, path, format="parquet")
    if truth is not None:
        table = {"task": votes.tasks, "label": votes.classes[simulation.truth]}
        io.write_table(table, truth / os.path.basename(path))
    return len(votes)


def itself(thing: int, _: None) -> int:
    """What is held, as it is."""
    return thing
