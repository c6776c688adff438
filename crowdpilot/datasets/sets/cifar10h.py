"""CIFAR-10H: human labels of the test images of CIFAR-10."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts
from crowdpilot.datasets.source_files import on_github, votes_dataset
from crowdpilot.votes import Votes

REPOSITORY = "jcpeterson/cifar-10h", "389f22d9d300ec71a4c44735d46f550c94b957ab"
SHA256 = "4b0283f9b2ae72a616eeb4a2a38474cc2a238eb041bfb8df5ead3a8a47f35aa3"
TABLE = "cifar10h-raw.csv"


def make(files: Mapping[str, Path]) -> Data:
    """From a table of all trials in an archive; those that only check attention are left out.

    A task is the number of an image in the test set. Some trials were timed below zero: their
    seconds are not known.
    """
    columns = list(zip(*_trials(files["cifar10h-raw.zip"]), strict=True))
    if not columns:
        raise ValueError(f"{TABLE}: there is no trial in it")
    worker, task, label, true, reaction = columns
    seconds = np.array(reaction, np.float64) / 1000
    classes = sorted(set(true))  # the alphabet is the order of CIFAR-10 too
    votes = Votes.of(
        np.array(task, np.int64), np.array(worker, np.int64), label, classes=classes, repeats="all",
        seconds=np.where(seconds > 0, seconds, np.nan),
    )  # fmt: skip
    return Data(Part(votes.tasks, votes, dict(zip(map(int, task), true, strict=True))))


def _trials(path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Worker, image, chosen and true class, and milliseconds of each."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(TABLE) as file:
            for row in csv.DictReader(TextIOWrapper(file, "utf-8", newline="")):
                if row["is_attn_check"] == "0":
                    yield (
                        row["annotator_id"], row["cifar10_test_test_idx"], row["chosen_category"],
                        row["true_category"], row["reaction_time"],
                    )  # fmt: skip
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path.name}: expected an archive with {TABLE} and its columns ({error})"
        ) from error


DATASETS = (
    votes_dataset(
        "cifar10h",
        "What does a test image of CIFAR-10 show? Mechanical Turk, about 51 workers each, with seconds.",
        Counts(10000, 2571, 514200, 10, 10000),
        "Peterson et al., Human uncertainty makes classification more robust, ICCV 2019",
        repository=REPOSITORY[0],
        licence="CC BY-NC-SA 4.0",
        make=make,
        files=[on_github(*REPOSITORY, "data/cifar10h-raw.zip", sha256=SHA256)],
    ),
)
