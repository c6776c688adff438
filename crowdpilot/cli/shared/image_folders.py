"""Which class a folder of pictures holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowdpilot.arrays import Names
from crowdpilot.cli.shared.output import note
from crowdpilot.votes import Votes


def folders_of(X: Any) -> list[str]:
    """The name of the folder that each picture is in; empty if X holds no pictures."""
    return [path.parent.name for path in X] if isinstance(X, list) and isinstance(X[0], Path) else []


def classes_of_folders(votes: Votes, tasks: Names | None, folder: Sequence[str]) -> dict[str, int]:
    """The class of each folder, as `io.pictures` finds it; a guess by most votes is told."""
    from crowdpilot.io import image_folders

    found = image_folders.classes_of_folders(votes, tasks, folder)
    if not found.keys() <= set(map(str, votes.classes.tolist())):
        note("by most votes, " + ", ".join(f"{name} is {votes.classes[k]}" for name, k in found.items()))
    return found
