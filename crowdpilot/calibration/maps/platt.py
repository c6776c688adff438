"""Platt scaling: a logistic curve over the log-odds of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.calibration.one_vs_rest import OneAgainstRest


@dataclass(frozen=True, kw_only=True)
class Platt(OneAgainstRest):
    """logistic(a log(p / (1 - p)) + c).

    Parameters
    ----------
    floor
        Probabilities below count as this, so that all have a logarithm.
    strength
        How firmly a is held at the best temperature and c at 0: the precision of a normal prior.
    smoothing
        Whether no target is 0 or 1, as Platt proposes: of N tasks of the class and M others, those
        count as (N + 1) / (N + 2) of the class, these as 1 / (M + 2); soft labels in between. With
        many classes and few tasks of each that is a strong pull, and `strength` does the same work.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods, Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> said = np.array([[0.99, 0.01]] * 8 + [[0.01, 0.99]] * 8)  # right 6 times of 8
    >>> map = Platt(strength=0).fit(said, ([0] * 6 + [1] * 8 + [0] * 2))
    >>> map(said)[0].round(3).tolist()
    [0.75, 0.25]
    """

    smoothing: bool = False

    name: ClassVar[str] = "platt"
    aliases: ClassVar[tuple[str, ...]] = ("sigmoid", "logistic")
    places: ClassVar[tuple[int, int, int]] = (0, 0, 1)
    lowest: ClassVar[tuple[float, ...]] = (-np.inf, -np.inf)

    def aim(self, target: Floats, weight: Floats) -> Floats:
        if not self.smoothing:
            return target
        inside, outside = weight @ target, weight @ (1 - target)
        return target * (inside + 1) / (inside + 2) + (1 - target) / (outside + 2)
