"""Votes as a command is told to read them, with what is known of tasks and workers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Names
from crowdpilot.cli.shared.output import note, working
from crowdpilot.votes import Repeats, Votes


def read_votes(
    source: Path,
    asked: Mapping[str, Any],
    repeats: Repeats,
    *,
    gold: Mapping[Any, Any] | None = None,
    exclude: Path | None = None,
) -> Votes:
    """Votes without those of the excluded workers, with the true labels of the file and of `gold`."""
    from crowdpilot import io

    with working(f"reading {source}"):
        votes = io.read(source, repeats=repeats, **asked)
        if not len(votes):
            raise ValueError(f"{source} has no vote, expected one in every row below the first")
        if gold:
            check_tasks("the file of true labels", gold, votes.tasks)
        votes = votes if gold is None else votes.with_gold({**_known(votes), **gold})
        votes = votes if exclude is None else _leave_out(votes, exclude)
    if votes.dropped:
        note(f"{votes.dropped} rows hold no vote (missing or “can't tell”) and were left out")
    return votes


def read_known(*files: Path | None) -> dict[Any, Any] | None:
    """The true labels in all of these files; None if there is no file."""
    from crowdpilot import io

    found = [io.read_labels(file) for file in files if file is not None]
    return {task: label for labels in found for task, label in labels.items()} if found else None


def check_tasks(file: Path | str, known: Mapping[Any, Any], tasks: Names) -> None:
    """Raise if a file is about none of these tasks, as it is if they have other names there."""
    if not {str(task) for task in tasks.tolist()}.intersection(map(str, known)):
        names = f"{str(next(iter(known), 'nothing'))!r} there and {str(tasks[0])!r} here"
        raise ValueError(f"{file} names none of the {len(tasks)} tasks; they are called {names}: rename them")


def read_names(file: Path) -> set[str]:
    """The workers in the column `worker` of a file."""
    from crowdpilot import io

    format = "csv" if file.suffix == ".csv" else None  # which may have a single column
    return set(map(str, io.read_labels(file, format=format, columns={"task": "worker", "label": "worker"})))


def _known(votes: Votes) -> dict[Any, Any]:
    if votes.gold is None:
        return {}
    known = np.flatnonzero(votes.gold >= 0)
    return dict(zip(votes.tasks[known].tolist(), votes.classes[votes.gold[known]].tolist(), strict=True))


def _leave_out(votes: Votes, file: Path) -> Votes:
    """The votes of all but the workers in a file."""
    out = read_names(file)
    names = [str(name) for name in votes.workers.tolist()]
    if not out.intersection(names):
        raise ValueError(
            f"{file} names none of the {len(names)} workers; they are called {names[0]!r} and so on"
        )
    left = np.asarray([name not in out for name in names])
    if not left[votes.worker].any():
        raise ValueError(f"{file} names all workers, so that no vote is left")
    note(f"{(~left).sum()} of {len(names)} workers and {(~left[votes.worker]).sum()} votes are left out")
    return votes.select(workers=left)
