"""SimulatedCrowd: thirty workers of mixed accuracy, whose answers about an item are fixed by a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdpilot.arrays import Codes

ACCURACIES = ((8, 0.97), (12, 0.9), (6, 0.75), (2, 0.5), (2, 0.0))  # number of workers, their accuracy


class SimulatedCrowd:
    """Thirty workers: experts, good and poor ones, and two who always choose the first class.

    Parameters
    ----------
    truth
        The class of each item.
    classes
        Their number.
    seed
        Of the random answers.

    Examples
    --------
    >>> crowd = SimulatedCrowd([0, 1, 1, 0] * 50, classes=2, seed=0)
    >>> crowd.answers.shape
    (30, 200)
    """

    def __init__(self, truth: Sequence[int], classes: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.truth = np.asarray(truth)
        self.skill = np.concatenate([np.full(n, skill) for n, skill in ACCURACIES])
        shape = len(self.skill), len(self.truth)
        wrong = (self.truth + rng.integers(1, classes, shape)) % classes
        answers = np.where(rng.random(shape) < self.skill[:, None], self.truth, wrong)
        answers[self.skill == 0] = 0
        self.answers: Codes = answers.astype(np.int32)  # (workers, items)
        self.classes = classes

    def __len__(self) -> int:
        return len(self.skill)
