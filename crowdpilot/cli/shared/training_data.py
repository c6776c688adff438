"""What a classifier is trained on and measured by: votes, the content of tasks, true labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Names
from crowdpilot.cli.shared.image_folders import classes_of_folders, folders_of
from crowdpilot.cli.shared.labels import as_votes, read_codes
from crowdpilot.cli.shared.output import note, working
from crowdpilot.cli.shared.training_options import Learning
from crowdpilot.cli.shared.vote_files import read_known, read_votes
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class Part:
    """The content of some tasks, with their names and true classes as far as they are known."""

    path: Path
    X: Any
    tasks: Names | None
    truth: Codes | None = None  # -1 where it is not known


@dataclass(frozen=True, eq=False)
class Data:
    """Votes about the tasks of one part, and other parts that are only measured by."""

    votes: Votes
    train: Part
    validation: Part | None
    test: Part | None

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
            raise type(error)(f"the same command goes on from what is in {model.checkpoint}") from None


def read_data(dataset: Path, asked: Learning, labels: Path | None = None) -> Data:
    """All that the options name, and the pictures of a folder in peerannot's layout.

    With a file of labels, they take the place of the votes.
    """
    _check_pairs(asked)
    reading, repeats = asked.reading()
    source = asked.answers or dataset
    votes = read_votes(source, reading, repeats, gold=read_known(asked.gold), exclude=asked.exclude)
    votes = votes if labels is None else as_votes(labels, votes)
    with working("reading the content of the tasks"):
        alone = dataset if asked.answers and dataset.is_file() else None
        train = _read(asked.x or alone or _inside(dataset, "train"))
        validation = _read(asked.val_x or _inside(dataset, "val"))
        test = _read(asked.test_x or _inside(dataset, "test"))
    if train is None:
        raise ValueError(
            f"{dataset} has no folder train of pictures, so --x must say what the tasks hold; or give what "
            "they hold as DATASET, and --votes"
        )
    votes = _about(votes, train, source)
    folders = classes_of_folders(votes, train.tasks, folders_of(train.X))
    return Data(
        votes if asked.path_remove is None else _remove(votes, asked.path_remove),
        _known(train, asked.truth, votes.classes, folders) if asked.truth or folders else train,
        None if validation is None else _known(validation, asked.val_labels, votes.classes, folders),
        None if test is None else _known(test, asked.test_labels, votes.classes, folders),
    )


def _check_pairs(asked: Learning) -> None:
    for name, x, labels in (
        ("val", asked.val_x, asked.val_labels),
        ("test", asked.test_x, asked.test_labels),
    ):
        if x is not None and labels is None and not x.is_dir():
            raise ValueError(f"--{name}-x needs --{name}-labels, the true labels of its tasks")
        if x is None and labels is not None:
            raise ValueError(f"--{name}-labels needs --{name}-x, the content of its tasks")


def _inside(dataset: Path, name: str) -> Path | None:
    return dataset / name if (dataset / name).is_dir() else None


def _read(path: Path | None) -> Part | None:
    from crowdpilot.learning.data.content_files import read_x

    if path is None:
        return None
    tasks, X = read_x(path)
    if isinstance(X, list) and (empty := sum(not str(text).strip() for text in X)):
        if empty == len(X):
            raise ValueError(f"{path}: all texts are empty, expected some with words")
        note(f"{empty} of {len(X)} texts in {path} are empty, so that nothing can be told from them")
    return Part(path, X, tasks)


def _about(votes: Votes, part: Part, source: Path) -> Votes:
    """The votes about tasks whose content is there; without names, row i is task i."""
    if part.tasks is None:
        return votes
    there = set(map(str, part.tasks.tolist()))
    has = np.asarray([str(task) in there for task in votes.tasks.tolist()], bool)
    if not has.any():
        names = f"such as {str(part.tasks[0])!r} here and {str(votes.tasks[0])!r} there"
        raise ValueError(f"{part.path} and {source} have no task in common; tasks are called {names}")
    if has.all():
        return votes
    note(f"{(~has).sum()} of {len(has)} tasks with votes are not in {part.path} and are left out")
    kept = votes.take(has[votes.task])
    gold = None if votes.gold is None else votes.gold[has]
    return replace(kept, task=(np.cumsum(has) - 1)[kept.task], tasks=votes.tasks[has], gold=gold)


def _remove(votes: Votes, file: Path) -> Votes:
    """The votes about all tasks but those that a file names, one in each line."""
    try:
        out = {line.strip() for line in file.read_text().splitlines()}
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text, expected the name of a task in each line") from None
    left = np.asarray([str(task) not in out for task in votes.tasks.tolist()], bool)
    if left.all():
        raise ValueError(f"{file} names none of the {len(left)} tasks")
    note(f"{(~left).sum()} of {len(left)} tasks are not learned from")
    gold = None if votes.gold is None else np.where(left, votes.gold, -1)
    return replace(votes.take(left[votes.task]), gold=gold)


def _known(part: Part, labels: Path | None, classes: Names, folders: Mapping[str, int]) -> Part:
    """The part with its true classes, from a file or from the folders of its pictures."""
    if labels is not None:
        return replace(part, truth=read_codes(labels, part.tasks, len(part.X), classes))
    said = folders_of(part.X)
    known = {str(name): k for k, name in enumerate(classes.tolist())} | dict(folders)
    lost = sorted(set(said) - known.keys())
    if lost or not said:
        problem = f"the folder {lost[0]!r} is called like no class" if said else "these are no pictures"
        raise ValueError(f"{part.path} does not tell the classes of its tasks: {problem}; give their labels")
    return replace(part, truth=np.asarray([known[name] for name in said], np.int32))
