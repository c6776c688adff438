"""The entry of a data set in the registry: counts, licence, source, files and how to build it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crowdpilot.datasets.data import Data
from crowdpilot.datasets.download import Remote
from crowdpilot.votes import Repeats


class Counts(NamedTuple):
    """How much there is of it; `truth` counts the tasks whose true class is known."""

    tasks: int
    workers: int
    votes: int
    classes: int
    truth: int = 0


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A crowd data set, which comes with the package or is downloaded.

    Parameters
    ----------
    name
        What to call it in `load`.
    description
        Who judged what, in one line.
    counts
        How many tasks, workers, votes and classes there are.
    kind
        What is known of the tasks besides votes: votes (nothing), texts, features or images.
    licence
        On what terms it may be passed on.
    source
        Where it was published, and where it is downloaded from.
    make
        Makes it from files, by their names; a set that comes with the package needs none.
    files
        What is to be downloaded.
    repeats
        Which votes count when a worker judged a task more than once.
    """

    name: str
    description: str
    counts: Counts
    kind: str
    licence: str
    source: str
    make: Callable[[Mapping[str, Path]], Data]
    files: tuple[Remote, ...] = ()
    repeats: Repeats = "all"

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with the package."""
        return not self.files

    @property
    def size(self) -> int | None:
        """Bytes to download, None if that is not known."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def checksum(self) -> str:
        """Whether the content of its files is known beforehand: known, in part, or at first download."""
        known = [file.sha256 is not None for file in self.files]
        return "known" if all(known) else "in part" if any(known) else "at first download"

    @property
    def terms(self) -> str:
        """The licence in one sentence, with a warning where it does not simply allow all use."""
        if "not stated" in self.licence:
            return (
                f"Licence: {self.licence}; ask the authors before you pass it on or sell what is made of it."
            )
        if "NC" in self.licence:
            return f"Licence: {self.licence}; no commercial use."
        return f"Licence: {self.licence}."
