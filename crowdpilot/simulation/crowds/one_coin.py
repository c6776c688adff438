"""One-coin crowd: workers who are right with one probability, whatever the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from crowdpilot.simulation.base import Crowd, CrowdDesign, Simulation


@dataclass(frozen=True, kw_only=True)
class OneCoin(Crowd):
    """Worker *j* is right with probability `skill[j]`; any other class is as likely as the next.

    Parameters
    ----------
    skill
        One for each worker; `workers` must be their number.
    """

    skill: tuple[float, ...]

    name: ClassVar[str] = "one-coin"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.skill) != self.workers:
            raise ValueError(f"there are {len(self.skill)} skills, expected one for {self.workers} workers")
        if bad := [skill for skill in self.skill if not 0 <= skill <= 1]:
            raise ValueError(f"a skill is {bad[0]}, expected a number between 0 and 1")
        if self.matrix_file is not None:
            raise ValueError("one-coin workers have no matrix file: their skills say it all")

    def draw_design(self, rng: Generator) -> CrowdDesign:
        skill = np.asarray(self.skill)[:, None, None]
        right = np.eye(self.classes)
        return CrowdDesign(skill * right + (1 - skill) * (1 - right) / max(self.classes - 1, 1))


def one_coin(
    tasks: int,
    skill: Sequence[float],
    *,
    classes: int = 2,
    votes_per_task: int | None = None,
    prior: tuple[float, ...] | None = None,
    seed: int = 0,
) -> Simulation:
    """Votes of workers with these skills, each on every task unless `votes_per_task` says how many.

    Examples
    --------
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> votes
    Votes(800 votes, 200 tasks, 4 workers, 2 classes)
    >>> votes.worker_mean(votes.label == truth[votes.task]).round(1).tolist()
    [0.9, 0.8, 0.6, 0.3]
    """
    crowd = OneCoin(
        tasks=tasks,
        workers=len(skill),
        classes=classes,
        skill=tuple(skill),
        votes_per_task=votes_per_task,
        prior=prior,
        seed=seed,
    )
    return crowd.run()
