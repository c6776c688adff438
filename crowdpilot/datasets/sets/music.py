"""Music: clips of the GTZAN collection in ten genres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.sets.active_crowd import EARLY, REPOSITORY
from crowdpilot.datasets.source_files import UNSTATED, number, on_github, read_rows
from crowdpilot.names import to_names
from crowdpilot.votes import Votes

FEATURES = "madkan/Music-Genre-Classifier", "dbb36036463b9dd7a384b9f496b222dc744397c2"


def make(files: Mapping[str, Path]) -> Data:
    """From rows of worker, clip, label and genre, and a table of numbers for each clip.

    The genre of a clip is in its name, which tells what the numbers of the labels mean. Clips that
    nobody judged are those to test by.
    """
    rows = read_rows(files["MS.csv"], 4)
    tasks = [_clip(row[1]) for row in rows]
    genre = {row[3]: _genre(task) for row, task in zip(rows, tasks, strict=True)}
    if unknown := next((row[2] for row in rows if row[2] not in genre), None):
        raise ValueError(f"MS.csv: there is a label {unknown!r} that no clip has as its genre")
    workers = number(row[0] for row in rows)
    votes = Votes.of(
        tasks,
        [workers[row[0]] for row in rows],
        [genre[row[2]] for row in rows],
        classes=sorted(genre.values()),
        repeats="all",
    )
    header, *table = read_rows(files["features_30_sec.csv"], 4)
    names = votes.tasks.tolist()
    clips = {_clip(row[0]): row for row in table}
    if missing := next((task for task in names if task not in clips), None):
        raise ValueError(f"features_30_sec.csv: there is no row for the clip {missing}")
    others = [clip for clip in clips if clip not in set(names)]
    return Data(_part(names, header, clips, votes), {"test": _part(others, header, clips)})


def _part(
    tasks: Sequence[str], header: Sequence[str], clips: Mapping[str, list[str]], votes: Votes | None = None
) -> Part:
    """The length and the genre of a clip are no features."""
    used = [n for n, name in enumerate(header) if name not in ("filename", "length", "label")]
    x = np.array([[clips[task][n] for n in used] for task in tasks], np.float32)
    return Part(to_names(list(tasks)), votes, {task: _genre(task) for task in tasks}, features=x)


def _clip(file: str) -> str:
    """`jazz.00063` of `jazz.00063.mp3`."""
    return file.rpartition(".")[0]


def _genre(clip: str) -> str:
    return clip.partition(".")[0]


DATASETS = (
    Dataset(
        name="music",
        description="Which of ten genres is a clip of music? Mechanical Turk, about four workers each. "
        "The name of a task holds its class: never learn from it.",
        counts=Counts(700, 44, 2945, 10, 700),
        kind="features",
        licence=UNSTATED,
        source="Rodrigues, Pereira and Ribeiro, Pattern Recognition Letters 34(12), 2013; votes in "
        f"https://github.com/{REPOSITORY}, numbers of the sound in https://github.com/{FEATURES[0]} "
        "(not those of the paper)",
        make=make,
        files=(
            on_github(REPOSITORY, EARLY, "Data/MS.csv", 103419),
            on_github(*FEATURES, "features_30_sec.csv", 1107271),
        ),
    ),
)
