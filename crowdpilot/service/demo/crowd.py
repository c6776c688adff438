"""A crowd of mixed quality, each of whose members always says the same about the same item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdpilot.arrays import Codes

QUALITY = ((8, 0.97), (12, 0.9), (6, 0.75), (2, 0.5), (2, 0.0))  # how many, and how often they are right


class Crowd:
    """Thirty people: experts, good and poor workers, and two who always press the first button.

    Parameters
    ----------
    truth
        The class of each item.
    classes
        How many there are.
    seed
        Draws who says what.

    Examples
    --------
    >>> crowd = Crowd([0, 1, 1, 0] * 50, classes=2, seed=0)
    >>> crowd.says.shape
    (30, 200)
    """

    def __init__(self, truth: Sequence[int], classes: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.truth = np.asarray(truth)
        self.skill = np.concatenate([np.full(n, skill) for n, skill in QUALITY])
        shape = len(self.skill), len(self.truth)
        wrong = (self.truth + rng.integers(1, classes, shape)) % classes
        says = np.where(rng.random(shape) < self.skill[:, None], self.truth, wrong)
        says[self.skill == 0] = 0
        self.says: Codes = says.astype(np.int32)  # (workers, items)
        self.classes = classes

    def __len__(self) -> int:
        return len(self.skill)
