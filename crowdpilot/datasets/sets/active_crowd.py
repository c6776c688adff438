"""Sets of the Active Crowd Toolkit: rows of worker, task, label, truth and perhaps seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.download import Remote
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.source_files import number, on_github, read_rows, to_int, votes_dataset
from crowdpilot.votes import Votes

REPOSITORY = "orchidproject/active-crowd-toolkit"
LICENCE = "not stated (toolkit: Apache-2.0)"


def make(files: Mapping[str, Path]) -> Data:
    """From the one file there is; workers get numbers, so that nobody is named."""
    (path,) = files.values()
    rows = read_rows(path, 4)
    workers = number(row[0] for row in rows)
    tasks = to_int(row[1] for row in rows)
    votes = Votes.of(
        tasks,
        [workers[row[0]] for row in rows],
        to_int(row[2] for row in rows),
        repeats="all",
        seconds=[float(row[4]) for row in rows] if min(map(len, rows)) > 4 else None,
    )
    known = dict(zip(tasks, to_int(row[3] for row in rows), strict=True))
    return Data(Part(votes.tasks, votes, known))


def _dataset(name: str, description: str, counts: Counts, paper: str, file: Remote) -> Dataset:
    return votes_dataset(
        name, description, counts, paper, repository=REPOSITORY, licence=LICENCE, make=make, files=[file]
    )


EARLY, LATE = "2c0c194e85ca126545bd830d811ec39151bdd448", "b0204e0329bc1d6718c0e890bc571a5cfa954d7e"
DATASETS = (
    _dataset(
        "weather_cf", "What does a tweet feel about the weather? Five classes, workers of CrowdFlower.",
        Counts(300, 461, 1720, 5, 300), "Venanzi et al., WWW 2014",
        on_github(REPOSITORY, EARLY, "Data/CF.csv", 29989),
    ),
    _dataset(
        "sp_amt", "Is a sentence of a film review positive? Twenty workers each, with their seconds.",
        Counts(500, 143, 10000, 2, 500), "Venanzi et al., HCOMP 2015",
        on_github(REPOSITORY, LATE, "Data/SP_amt.csv", 262246),
    ),
    _dataset(
        "zencrowd_in", "Is an address the right one for a name? Workers in India, with their seconds.",
        Counts(2040, 25, 11205, 2, 2040), "Demartini et al., WWW 2012",
        on_github(REPOSITORY, EARLY, "Data/ZenCrowd_in.csv"),
    ),
)  # fmt: skip
