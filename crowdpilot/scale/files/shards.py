"""`Shards`: a data set of votes in many Parquet files, all votes of a task in one of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any, get_args

from crowdpilot.votes import Repeats

AnyPath = str | os.PathLike[str]

LABELS_FOLDER = "_labels"  # for results beside the shards; a name that begins with _ is not read as votes


@dataclass(frozen=True)
class Shards:
    """Parquet files of votes with the options to read them; each is read where it is used.

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
        paths = find_files(self.paths) if isinstance(self.paths, (str, os.PathLike)) else self.paths
        files = sorted({os.path.abspath(path) for path in paths})
        if not files:
            raise ValueError(f"{self.paths}: there is no Parquet file here, expected at least one")
        object.__setattr__(self, "paths", tuple(files))

    @property
    def files(self) -> tuple[str, ...]:
        """The absolute paths of all files, sorted."""
        return tuple(os.fspath(path) for path in self.paths)  # type: ignore[union-attr]  # listed above

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of all files relative to `folder`."""
        folder = self.folder
        return tuple(str(Path(file).relative_to(folder)) for file in self.files)

    @property
    def folder(self) -> Path:
        """The deepest folder that holds all files."""
        return Path(os.path.commonpath([os.path.dirname(file) for file in self.files]))

    @property
    def read_options(self) -> dict[str, Any]:
        """Arguments of `crowdpilot.read` for each file."""
        return {
            "columns": dict(self.columns),
            "abstain": list(self.abstain),
            "repeats": self.repeats,
            "classes": None if self.classes is None else list(self.classes),
        }


def find_files(path: AnyPath) -> list[str]:
    """The files that match a pattern, or the Parquet files below a folder; hidden ones are left out."""
    text = os.fspath(path)
    if os.path.isdir(text):
        base, files = text, glob(os.path.join(escape(text), "**", "*.parquet"), recursive=True)
    elif os.path.exists(text):
        return [text]
    else:
        base, files = fixed_folder(text), glob(text, recursive=True)
    return [file for file in files if os.path.isfile(file) and not _is_hidden(file, base)]


def is_pattern(path: AnyPath) -> bool:
    """Whether a path is a glob pattern, and not a file that has such a name."""
    return has_magic(os.fspath(path)) and not os.path.exists(path)


def fixed_folder(pattern: str) -> str:
    """The deepest folder of a pattern whose path has no wildcard."""
    folder = os.path.dirname(pattern)
    while has_magic(folder):
        folder = os.path.dirname(folder)
    return folder


def _is_hidden(file: str, base: str) -> bool:
    """Whether a file, or a folder between it and `base`, has a name that begins with `_` or `.`."""
    parts = Path(os.path.relpath(file, base or os.curdir)).parts
    return any(part.startswith(("_", ".")) for part in parts if part != os.pardir)
