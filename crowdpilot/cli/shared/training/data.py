"""Training data of a classifier: votes, content of tasks, validation and test parts with true labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Names
from crowdpilot.cli.shared.labels import as_votes, read_codes
from crowdpilot.cli.shared.output import print_message, show_status
from crowdpilot.cli.shared.reading_options import ReadingOptions, read_true_labels
from crowdpilot.cli.shared.training.options import TrainingOptions
from crowdpilot.names import lookup
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class DataPart:
    """The content of some tasks, with their names and true classes as far as they are known."""

    path: Path
    X: Any
    tasks: Names | None
    truth: Codes | None = None  # -1 where it is not known


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Votes on the tasks of the training part, and other parts to validate and test."""

    votes: Votes
    train: DataPart
    validation: DataPart | None
    test: DataPart | None

    @property
    def known(self) -> dict[str, tuple[Any, Codes]]:
        """Content and true classes of the parts that have both."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        return {n: (p.X, p.truth) for n, p in parts.items() if p is not None and p.truth is not None}

    def fit(self, model: Any) -> None:
        """Train a classifier, with the validation part if there is one."""
        validation = None
        if "validation" in self.known:
            X, truth = self.known["validation"]
            names = [*self.votes.classes.tolist(), None]  # the last is that of -1
            validation = X, [names[k] for k in truth.tolist()]
        try:
            model.fit(self.train.X, self.votes, validation=validation, tasks=self.train.tasks)
        except KeyboardInterrupt as error:
            if model.checkpoint is None:
                raise
            raise type(error)(f"the same command resumes from {model.checkpoint}") from None


def read_data(
    dataset: Path, options: TrainingOptions, reading: ReadingOptions, labels: Path | None = None
) -> TrainingData:
    """All files that the options name, and the pictures of a folder in peerannot's layout.

    With a file of labels, they replace the votes.
    """
    _check_pairs(options)
    source, reading = options.answers or dataset, options.with_classes(reading)
    votes = reading.read(source, gold=read_true_labels(options.gold), exclude=options.exclude)
    votes = votes if labels is None else as_votes(labels, votes)
    with show_status("reading the content of the tasks"):
        single = dataset if options.answers and dataset.is_file() else None
        train = _read(options.x or single or _inside(dataset, "train"))
        validation = _read(options.val_x or _inside(dataset, "val"))
        test = _read(options.test_x or _inside(dataset, "test"))
    if train is None:
        raise ValueError(
            f"{dataset} has no folder train of pictures, so --x must say what the tasks hold; or give what "
            "they hold as DATASET, and --votes"
        )
    votes = _with_content(votes, train, source)
    folders = classes_of_folders(votes, train.tasks, folders_of(train.X))
    return TrainingData(
        votes if options.path_remove is None else _remove(votes, options.path_remove),
        _known(train, options.truth, votes.classes, folders) if options.truth or folders else train,
        None if validation is None else _known(validation, options.val_labels, votes.classes, folders),
        None if test is None else _known(test, options.test_labels, votes.classes, folders),
    )


def _check_pairs(options: TrainingOptions) -> None:
    for name, x, labels in (
        ("val", options.val_x, options.val_labels),
        ("test", options.test_x, options.test_labels),
    ):
        if x is not None and labels is None and not x.is_dir():
            raise ValueError(f"--{name}-x needs --{name}-labels, the true labels of its tasks")
        if x is None and labels is not None:
            raise ValueError(f"--{name}-labels needs --{name}-x, the content of its tasks")


def _inside(dataset: Path, name: str) -> Path | None:
    return dataset / name if (dataset / name).is_dir() else None


def _read(path: Path | None) -> DataPart | None:
    from crowdpilot.learning.data.content_files import read_x

    if path is None:
        return None
    tasks, X = read_x(path)
    if isinstance(X, list) and (empty := sum(not str(text).strip() for text in X)):
        if empty == len(X):
            raise ValueError(f"{path}: all texts are empty, expected some with words")
        print_message(
            f"{empty} of {len(X)} texts in {path} are empty, so that nothing can be learned from them"
        )
    return DataPart(path, X, tasks)


def _with_content(votes: Votes, part: DataPart, source: Path) -> Votes:
    """The votes on tasks with content; without names, row i is task i."""
    if part.tasks is None:
        return votes
    has = lookup(votes.tasks, part.tasks) >= 0
    if not has.any():
        names = f"such as {str(part.tasks[0])!r} here and {str(votes.tasks[0])!r} there"
        raise ValueError(f"{part.path} and {source} have no task in common; tasks are called {names}")
    if has.all():
        return votes
    print_message(f"{(~has).sum()} of {len(has)} tasks with votes are not in {part.path} and are left out")
    return votes.select(tasks=has)


def _remove(votes: Votes, file: Path) -> Votes:
    """The votes about all tasks but those that a file names, one in each line."""
    try:
        out = {line.strip() for line in file.read_text().splitlines()}
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text, expected the name of a task in each line") from None
    left = np.asarray([str(task) not in out for task in votes.tasks.tolist()], bool)
    if left.all():
        raise ValueError(f"{file} names none of the {len(left)} tasks")
    print_message(f"{(~left).sum()} of {len(left)} tasks are removed from training")
    gold = None if votes.gold is None else np.where(left, votes.gold, -1)
    return replace(votes.take(left[votes.task]), gold=gold)


def _known(part: DataPart, labels: Path | None, classes: Names, folders: Mapping[str, int]) -> DataPart:
    """The part with its true classes, from a file or from the folders of its pictures."""
    if labels is not None:
        return replace(part, truth=read_codes(labels, part.tasks, len(part.X), classes))
    folder = folders_of(part.X)
    known = {str(name): k for k, name in enumerate(classes.tolist())} | dict(folders)
    unknown = sorted(set(folder) - known.keys())
    if unknown or not folder:
        problem = f"the folder {unknown[0]!r} is called like no class" if folder else "these are no pictures"
        raise ValueError(f"{part.path} does not show the classes of its tasks: {problem}; give their labels")
    return replace(part, truth=np.asarray([known[name] for name in folder], np.int32))


def folders_of(X: Any) -> list[str]:
    """The name of the folder that each picture is in; empty if X holds no pictures."""
    return [path.parent.name for path in X] if isinstance(X, list) and isinstance(X[0], Path) else []


def classes_of_folders(votes: Votes, tasks: Names | None, folder: Sequence[str]) -> dict[str, int]:
    """The class of each folder, by its name or by most votes; by votes with a note."""
    from crowdpilot.io import image_folders

    classes = image_folders.classes_of_folders(votes, tasks, folder)
    if not classes.keys() <= set(map(str, votes.classes.tolist())):
        print_message(
            "by most votes, " + ", ".join(f"{name} is {votes.classes[k]}" for name, k in classes.items())
        )
    return classes
