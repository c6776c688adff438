"""Anesthesia: the bundled votes of five anaesthetists, for which Dawid and Skene made their model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path

import numpy as np

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.votes import Votes


def make(_: Mapping[str, Path]) -> Data:
    """Votes without truth, which nobody knows."""
    with (resources("crowdpilot.datasets") / "anesthesia.csv").open() as file:
        task, worker, label = np.loadtxt(file, np.int64, delimiter=",", skiprows=1, unpack=True)
    votes = Votes.of(task, worker, label, repeats="all")
    return Data(Part(votes.tasks, votes))


DATASETS = (
    Dataset(
        name="anesthesia",
        description="Five anaesthetists judge how fit 45 patients are for surgery, from 1 (best) to 4; "
        "the first of them judges each patient three times.",
        counts=Counts(45, 5, 315, 4),
        kind="votes",
        licence="facts (published figures)",
        source="Dawid and Skene, Applied Statistics 28(1), 1979, Table 1. https://doi.org/10.2307/2346806",
        make=make,
    ),
)
