"""Platt scaling (Platt 1999): a logistic curve of the log-odds for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.calibration.one_vs_rest import OneVsRest


@dataclass(frozen=True, kw_only=True)
class Platt(OneVsRest):
    """logistic(a log(p / (1 - p)) + c).

    Parameters
    ----------
    strength
        Precision of the normal prior of a around the best inverse temperature, and of c around 0.
    smoothing
        Whether targets are smoothed as Platt proposes: with N tasks of the class and M others, to
        (N + 1) / (N + 2) and 1 / (M + 2); soft labels in between. With many classes and few tasks of each
        the shrinkage is strong, and `strength` serves the same purpose.

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
    parameter_index: ClassVar[tuple[int, int, int]] = (0, 0, 1)
    lower_bounds: ClassVar[tuple[float, ...]] = (-np.inf, -np.inf)

    def curve_target(self, target: Floats, weight: Floats) -> Floats:
        if not self.smoothing:
            return target
        inside, outside = weight @ target, weight @ (1 - target)
        return target * (inside + 1) / (inside + 2) + (1 - target) / (outside + 2)
