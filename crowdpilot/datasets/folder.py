"""The layout of a data set folder: reading and writing ours, reading that of peerannot."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot import io
from crowdpilot.arrays import Names
from crowdpilot.datasets.data import Data, Part
from crowdpilot.io.formats.soft import CROWD
from crowdpilot.io.image_folders import classes_of_folders, find_images
from crowdpilot.names import to_names
from crowdpilot.votes import Repeats, Votes

TRAIN = "train"
FILES = "answers.csv", "soft.csv", "counts.csv", "truth.csv", "texts.csv", "features.npz"
PART = re.compile(rf"((?:test|valid|val)\w*?)_({'|'.join(map(re.escape, FILES))})")
IMAGE_FOLDERS = {"train": TRAIN, "val": "val", "test": "test"}  # folders of peerannot's layout


def read_folder(folder: str | PathLike[str], *, repeats: Repeats = "last") -> Data:
    """All that a folder holds, in the layout of `crowdpilot datasets get` or in that of peerannot.

    Parameters
    ----------
    folder
        With `answers.csv` (task, worker, label), or `soft.csv` or `counts.csv` where workers are not
        known; beside it `truth.csv`, `texts.csv`, `features.npz` and the same with `val_` or `test_`
        before the name. Or with `answers.json`, and images in `train`, `val` and `test`.
    repeats
        What counts when a worker labels a task again, as in `crowdpilot.read`.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"{root}: there is no such folder")
    if (root / "answers.json").is_file():
        return _read_peerannot(root, repeats)
    parts: dict[str, dict[str, Path]] = {}
    for path in sorted(root.iterdir()):
        part = PART.fullmatch(path.name)
        if part or path.name in FILES:
            name, file = (part[1].replace("valid", "val"), part[2]) if part else (TRAIN, path.name)
            parts.setdefault(name, {})[file] = path
    if TRAIN not in parts:
        raise ValueError(f"{root}: there is none of the files {', '.join(FILES)}, nor answers.json")
    train = _read_part(parts.pop(TRAIN), repeats, None)
    return Data(train, {name: _read_part(files, repeats, train.votes) for name, files in parts.items()})


def _read_part(files: Mapping[str, Path], repeats: Repeats, train_votes: Votes | None) -> Part:
    votes = _read_votes(files, repeats)
    known = {} if "truth.csv" not in files else io.read_labels(files["truth.csv"])
    judged = train_votes if votes is None else votes
    classes = _by_text(() if judged is None else judged.classes)
    tasks = _by_text(votes.tasks if votes is not None else ())
    truth = {tasks.get(str(t), t): classes.get(str(label), label) for t, label in known.items()}
    names = list(tasks.values() or truth)
    texts = features = None
    if "features.npz" in files:
        names, features = _read_features(files["features.npz"], tasks)
    if "texts.csv" in files:
        columns = {"task": "task", "label": "text"}
        read = io.read_labels(files["texts.csv"], columns=columns)
        text_of = {tasks.get(str(task), task): str(text) for task, text in read.items()}
        names = names if features is not None else list(text_of)
        texts = [text_of.get(task, "") for task in names]
    return Part(to_names(names), votes, truth, texts, features)


def _by_text(names: Any) -> dict[str, Any]:
    """Names by how they are written, so that 7 and "7" are found as one."""
    return {str(name): name for name in np.asarray(names).tolist()} if len(names) else {}


def _read_votes(files: Mapping[str, Path], repeats: Repeats) -> Votes | None:
    if "answers.csv" in files:
        return io.read(files["answers.csv"], repeats=repeats)
    if "soft.csv" in files:
        return io.read(files["soft.csv"], format="soft")
    return _read_counts(files["counts.csv"]) if "counts.csv" in files else None


def _read_counts(path: Path) -> Votes:
    """Votes of the crowd as one worker; each weighs as much as there were votes for the class."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    try:
        counts = np.array([row[1:] for row in rows], np.float64)
        if header[0] != "task" or counts.shape != (len(rows), len(header) - 1):
            raise ValueError
    except ValueError:
        raise ValueError(
            f"{path}: expected a column task, and a number for each class in n0, n1, ..."
        ) from None
    task, label = np.nonzero(counts)
    names = _numbers([row[0] for row in rows])
    classes = _numbers([re.sub(r"^n(?=\d+$)", "", name) for name in header[1:]])
    worker = np.zeros(len(task), np.int32)
    return Votes(
        task.astype(np.int32), worker, label.astype(np.int32), names, to_names([CROWD]), classes,
        counts[task, label],
    )  # fmt: skip


def _numbers(names: list[str]) -> Names:
    """Names as numbers if all are."""
    return to_names(list(map(int, names)) if all(map(str.isdecimal, names)) else names)


def _read_features(path: Path, tasks: Mapping[str, Any]) -> tuple[list[Any], NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            names, x = file["task"], file["x"]
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise ValueError(f"{path}: expected the arrays task and x of numpy ({error})") from error
    if names.shape != x.shape[:1]:
        raise ValueError(f"{path}: task is {names.shape} and x is {x.shape}, expected a row for each task")
    return [tasks.get(str(task), task) for task in names.tolist()], x


def _read_peerannot(folder: Path, repeats: Repeats) -> Data:
    votes = io.read(folder, repeats=repeats)
    folders = {name: folder / inner for inner, name in IMAGE_FOLDERS.items() if (folder / inner).is_dir()}
    images = {name: find_images(path) for name, path in folders.items()}
    truth = folder / "ground_truth.npy"  # as `crowdpilot simulate` writes it
    known = io.read_labels(truth) if truth.is_file() else {}
    tasks, classes = _by_text(votes.tasks), _by_text(votes.classes)
    truth_of = {tasks.get(str(t), t): classes.get(str(label), label) for t, label in known.items()}
    if TRAIN not in images:
        return Data(Part(votes.tasks, votes, truth_of))
    names, paths = images.pop(TRAIN)
    image_tasks = {str(name) for name in names.tolist()}
    about = votes if set(tasks) <= image_tasks else None  # votes on other images say nothing of the folders
    holds = {} if about is None else classes_of_folders(about, names, [path.parent.name for path in paths])
    renamed = to_names([tasks.get(str(name), name) for name in names.tolist()])
    train = _image_part(renamed, paths, holds, votes)
    return Data(
        replace(train, votes=votes, truth=truth_of or train.truth),
        {name: _image_part(*part, holds, votes) for name, part in images.items()},
    )


def _image_part(names: Names, paths: list[Path], holds: Mapping[str, int], votes: Votes) -> Part:
    pairs = zip(names.tolist(), paths, strict=True)
    truth = {
        name: votes.classes.tolist()[holds[path.parent.name]]
        for name, path in pairs
        if path.parent.name in holds
    }
    return Part(names, truth=truth, images=paths)


def write_folder(data: Data, folder: Path) -> None:
    """Write a new folder in the layout that `read_folder` reads; images are not written."""
    folder.mkdir()
    for prefix, part in _parts(data):
        if part.votes is not None:
            _write_votes(part.votes, folder, prefix)
        if part.truth:
            io.write_table(
                {"task": list(part.truth), "label": list(part.truth.values())}, folder / f"{prefix}truth.csv"
            )
        names = part.tasks.tolist()
        if part.texts is not None:
            io.write_table({"task": names, "text": list(part.texts)}, folder / f"{prefix}texts.csv")
        if part.features is not None:
            np.savez_compressed(folder / f"{prefix}features.npz", task=np.array(names), x=part.features)


def _parts(data: Data) -> Iterator[tuple[str, Part]]:
    yield "", data.train
    yield from ((f"{name}_", part) for name, part in data.parts.items())


def _write_votes(votes: Votes, folder: Path, prefix: str) -> None:
    if votes.weight is None:
        io.write(votes, folder / f"{prefix}answers.csv")
        return
    shares = votes.tally()
    columns = {f"conf{name}": shares[:, k].tolist() for k, name in enumerate(votes.classes.tolist())}
    io.write_table({"task": votes.tasks.tolist(), **columns}, folder / f"{prefix}soft.csv")
