"""Public crowd data sets by name: some are bundled, the others are downloaded."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.download import Progress
from crowdpilot.datasets.folder import read_folder
from crowdpilot.datasets.local_copies import download_dataset, home, load_data
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.sets import (
    active_crowd,
    anesthesia,
    cifar10h,
    digits,
    figure_eight,
    labelme,
    music,
    texts,
    truth_inference,
)
from crowdpilot.option_strings import did_you_mean
from crowdpilot.votes import Votes

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for family in (
        anesthesia,
        digits,
        texts,
        labelme,
        music,
        cifar10h,
        truth_inference,
        active_crowd,
        figure_eight,
    )
    for dataset in family.DATASETS
}

__all__ = [
    "DATASETS",
    "Counts",
    "Data",
    "Dataset",
    "Part",
    "find",
    "get",
    "home",
    "load",
    "open",
    "read_folder",
]


def find(name: str) -> Dataset:
    """The entry of a data set; a name that is nearly right is told."""
    if name in DATASETS:
        return DATASETS[name]
    raise ValueError(f"there is no data set {name!r}{did_you_mean(name, DATASETS)}")


def load(name: str) -> Votes:
    """The votes of a data set that comes with the package or has been downloaded.

    Examples
    --------
    >>> load("anesthesia")
    Votes(315 votes, 45 tasks, 5 workers, 4 classes)
    """
    return load_data(find(name)).votes


def open(source: str | PathLike[str]) -> Data:
    """All of a data set by its name, or of a folder: votes, truth, texts, features and images.

    Examples
    --------
    >>> open("digits")
    Data(Votes(1800 votes, 450 tasks, 30 workers, 4 classes), truth of 450, features, images, test of 150)
    """
    if isinstance(source, str) and (source in DATASETS or not Path(source).exists()):
        return load_data(find(source))
    return read_folder(source)


def get(
    name: str,
    to: str | PathLike[str] | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Download a data set, check it, and say in which folder it is; one that is there stays as it is.

    Parameters
    ----------
    name
        Which one. One that comes with the package is written as a folder too.
    to
        Where its folder is made; `home()` if not given.
    force
        Get it again. Its files must still be those of the first download.
    progress
        Called after each piece, with the name of the file, the bytes that are there, and those in all.
    """
    return download_dataset(find(name), None if to is None else Path(to), force=force, progress=progress)
