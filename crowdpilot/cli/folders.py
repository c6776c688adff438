"""Which class a folder of pictures holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Names, sum_by
from crowdpilot.cli.output import note
from crowdpilot.votes import Votes


def folders_of(X: Any) -> list[str]:
    """The name of the folder that each picture is in; empty if X holds no pictures."""
    return [path.parent.name for path in X] if isinstance(X, list) and isinstance(X[0], Path) else []


def classes_of_folders(votes: Votes, tasks: Names | None, folder: Sequence[str]) -> dict[str, int]:
    """The class of each folder in which the pictures of these tasks are; empty if that is not clear.

    Folders are often called by words and classes by numbers. A folder then holds the class that
    most votes in it are for, if that gives each class to one folder.
    """
    K = len(votes.classes)
    names = sorted(set(folder))
    classes = {str(name): k for k, name in enumerate(votes.classes.tolist())}
    if names and set(names) <= classes.keys():
        return {name: classes[name] for name in names}
    if tasks is None or len(names) != K:
        return {}
    row = {str(task): n for n, task in enumerate(tasks.tolist())}
    of_row = np.searchsorted(names, folder)
    of_task = of_row[[row[str(task)] for task in votes.tasks.tolist()]]
    count = sum_by(of_task[votes.task] * K + votes.label, votes.weights, K * K).reshape(K, K)
    best = count.argmax(axis=1).tolist()
    if len(set(best)) < K:
        return {}
    note(
        "by most votes, " + ", ".join(f"{n} is {votes.classes[k]}" for n, k in zip(names, best, strict=True))
    )
    return dict(zip(names, best, strict=True))
