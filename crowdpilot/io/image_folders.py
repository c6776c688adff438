"""Which files of a folder are images, of which tasks, and which class a folder of them holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crowdpilot.arrays import Names, sum_by
from crowdpilot.names import lookup, natural_order, to_names
from crowdpilot.votes import Votes

SUFFIXES = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"))
TRAIN = "train"  # the folder of a data set whose images the votes are about


def is_image(path: Path) -> bool:
    """Whether a file is an image, by its name."""
    return path.suffix.lower() in SUFFIXES


def find_images(folder: Path) -> tuple[Names, list[Path]]:
    """The tasks and images of a folder, in the natural order of the tasks.

    In peerannot's layout, `train/<class>/<name>-<task>.<suffix>`, the task is the number after the last
    hyphen; the folder may be `train` or the one around it. Else the task is the name of the file
    without suffix, and with its folders if two files have the same name.
    """
    folder = folder / TRAIN if (folder / TRAIN).is_dir() else folder
    paths = sorted(
        path
        for path in folder.rglob("*")
        if is_image(path) and path.is_file() and not _is_hidden(path.relative_to(folder))
    )
    if not paths:
        raise ValueError(f"{folder}: there is no image in it, expected files such as name.png or name.jpg")
    names = to_names(_tasks(folder, paths))
    order = natural_order(names)
    return names[order], [paths[n] for n in order]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _tasks(folder: Path, paths: Sequence[Path]) -> Sequence[int] | Sequence[str]:
    numbers = [int(n[1]) for path in paths if (n := re.search(r"-([0-9]+)$", path.stem))]
    sorted_by_class = all(path.parent != folder for path in paths)
    if sorted_by_class and len(set(numbers)) == len(numbers) == len(paths):
        return numbers
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [path.relative_to(folder).with_suffix("").as_posix() for path in paths]


def classes_of_folders(votes: Votes, tasks: Names | None, folder: Sequence[str]) -> dict[str, int]:
    """The class of each folder in which the images of these tasks are; empty if that is not clear.

    Folders are often called by words and classes by numbers. A folder then holds the class that
    most votes in it are for, if that gives each class to one folder.
    """
    K = len(votes.classes)
    names = sorted(set(folder))
    codes = votes.index("classes", names)
    if names and (codes >= 0).all():
        return dict(zip(names, codes.tolist(), strict=True))
    if tasks is None or len(names) != K:
        return {}
    of_row = np.searchsorted(names, folder)
    of_task = of_row[lookup(votes.tasks, tasks)]
    count = sum_by(of_task[votes.task] * K + votes.label, votes.weights, K * K).reshape(K, K)
    best = count.argmax(axis=1).tolist()
    return dict(zip(names, best, strict=True)) if len(set(best)) == K else {}
