"""What is known of each data set, and how to load it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from crowdpilot.votes import Repeats, Votes


@dataclass(frozen=True)
class Dataset:
    """A public crowd data set that comes with the package.

    Parameters
    ----------
    name
        What to call it in `load`.
    description
        Who judged what, in one line.
    licence
        On what terms it may be passed on.
    source
        Where it was published.
    repeats
        Which votes count when a worker judged a task more than once.
    """

    name: str
    description: str
    licence: str
    source: str
    repeats: Repeats = "error"

    def load(self) -> Votes:
        """Read its votes."""
        with (files("crowdpilot.datasets") / f"{self.name}.csv").open() as file:
            task, worker, label = np.loadtxt(file, np.int64, delimiter=",", skiprows=1, unpack=True)
        return Votes.of(task, worker, label, repeats=self.repeats)
