"""Votes in many Parquet files, all votes of a task in one of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import Any, get_args

from crowdpilot.votes import Repeats

AnyPath = str | os.PathLike[str]

LABELS = "_labels"  # folder for results beside the shards; a name with _ is no part of a data set


@dataclass(frozen=True)
class Shards:
    """Parquet files of votes, which are read where they are used and never all at once.

    Parameters
    ----------
    paths
        A pattern such as `votes/*.parquet`, a folder of Parquet files, or a list of files. What is
        below a folder whose name begins with `_` or `.` is left out. Files are taken in the order
        of their names.
    columns, classes, abstain, repeats
        As `crowdpilot.read` takes them.
    gold
        The true label of some tasks.
    exclude
        Names of workers whose votes do not count.

    Examples
    --------
    >>> Shards(["b.parquet", "a.parquet"]).names
    ('a.parquet', 'b.parquet')
    """

    paths: AnyPath | Sequence[AnyPath]
    columns: Mapping[str, str | None] = field(default_factory=dict, kw_only=True)
    classes: Sequence[Any] | None = field(default=None, kw_only=True)
    abstain: Sequence[Any] = field(default=(), kw_only=True)
    repeats: Repeats = field(default="last", kw_only=True)
    gold: Mapping[Any, Any] = field(default_factory=dict, kw_only=True)
    exclude: Collection[Any] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.repeats not in get_args(Repeats):
            raise ValueError(f"repeats is {self.repeats!r}, expected one of {', '.join(get_args(Repeats))}")
        found = find_files(self.paths) if isinstance(self.paths, (str, os.PathLike)) else self.paths
        files = sorted({os.path.abspath(path) for path in found})
        if not files:
            raise ValueError(f"{self.paths}: there is no Parquet file here, expected at least one")
        object.__setattr__(self, "paths", tuple(files))

    @property
    def files(self) -> tuple[str, ...]:
        """The full paths of all files."""
        return tuple(os.fspath(path) for path in self.paths)  # type: ignore[union-attr]  # listed above

    @property
    def names(self) -> tuple[str, ...]:
        """The files as they are called below the folder that holds them all."""
        folder = self.folder
        return tuple(str(Path(file).relative_to(folder)) for file in self.files)

    @property
    def folder(self) -> Path:
        """The folder that holds them all."""
        return Path(os.path.commonpath([os.path.dirname(file) for file in self.files]))

    @property
    def reading(self) -> dict[str, Any]:
        """What `crowdpilot.read` is told of each file."""
        asked = {"columns": dict(self.columns), "abstain": list(self.abstain), "repeats": self.repeats}
        return {**asked, "classes": None if self.classes is None else list(self.classes)}


def find_files(where: AnyPath) -> list[str]:
    """The Parquet files that a pattern means, or those in a folder."""
    text = os.fspath(where)
    if os.path.isdir(text):
        base, found = text, glob(os.path.join(glob_escape(text), "**", "*.parquet"), recursive=True)
    elif os.path.exists(text):
        return [text]
    else:
        base, found = fixed_part(text), glob(text, recursive=True)
    return [file for file in found if os.path.isfile(file) and not _is_aside(file, base)]


def is_pattern(where: AnyPath) -> bool:
    """Whether a path stands for several files."""
    return has_magic(os.fspath(where)) and not os.path.exists(where)


def fixed_part(pattern: str) -> str:
    """The folder that is the same for all that a pattern can mean."""
    folder = os.path.dirname(pattern)
    while has_magic(folder):
        folder = os.path.dirname(folder)
    return folder


def glob_escape(text: str) -> str:
    """A path in which nothing stands for anything else."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def _is_aside(file: str, base: str) -> bool:
    parts = Path(os.path.relpath(file, base or os.curdir)).parts
    return any(part.startswith(("_", ".")) for part in parts if part != os.pardir)
