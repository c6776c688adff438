"""Maps that look at one class at a time: a smooth curve for each, then rows that sum to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import Fitted, Map, raised
from crowdpilot.calibration.cross_entropy import Problem, slope, solve
from crowdpilot.calibration.sample import Sample, nll

IDENTITY = np.array([1.0, 1.0, 0.0])  # logistic(log p - log(1 - p)) is p


@dataclass(frozen=True, eq=False)
class Curved(Fitted):
    """logistic(a log p - b log(1 - p) + c) of each class, with its own a, b and c."""

    coefficients: Floats  # (classes, 3)

    @property
    def classes(self) -> int:
        return len(self.coefficients)

    def apply(self, probs: Floats) -> Floats:
        a, b, c = self.coefficients.T
        curve: Floats = expit(a * np.log(probs) - b * np.log1p(-probs) + c)
        return curve


@dataclass(frozen=True, kw_only=True)
class OneAgainstRest(Map):
    """logistic(a log p - b log(1 - p) + c) of each class, divided by the sum over classes.

    With two classes the curves are mirror images that sum to one by themselves. With more they are
    fitted one by one, and if their quotients fit the tasks no better than the probabilities did, the
    identity is kept.

    Parameters
    ----------
    floor
        Probabilities below count as this, so that all have a logarithm.
    strength
        How firmly a and b are held at the best temperature and c at 0: the precision of a normal
        prior, that counts little against hundreds of tasks.
    """

    strength: float = 10.0

    places: ClassVar[tuple[int, int, int]]  # which parameters a, b and c are
    lowest: ClassVar[tuple[float, ...]]  # of each parameter

    def size(self, K: int) -> int:
        return K * len(self.lowest)

    def learn(self, sample: Sample) -> Fitted:
        probs = raised(sample.probs, self.floor)
        centre = IDENTITY * slope(np.log(probs), sample.target, sample.weight)
        classes = zip(probs.T, sample.target.T, strict=True)
        curves = [self._curve(p, t, sample.weight, centre) for p, t in classes]
        fitted = Curved(self.name, self.floor, np.array(curves))
        if sample.weight @ (nll(sample, fitted(probs)) - nll(sample, probs)) > 0:
            return Curved(self.name, self.floor, np.tile(IDENTITY, (len(curves), 1)))
        return fitted

    def aim(self, target: Floats, weight: Floats) -> Floats:
        """What the curve of one class is fitted to, (tasks,)."""
        return target

    def _curve(self, p: Floats, target: Floats, weight: Floats, centre: Floats) -> Floats:
        features = np.column_stack([np.log(p), -np.log1p(-p), np.ones(len(p))])
        aim = self.aim(target, weight)
        tied: NDArray[np.intp] = np.column_stack([[-1, -1, -1], self.places])
        begin = centre[[self.places.index(n) for n in range(len(self.lowest))]]
        strength = np.full(len(begin), self.strength)
        problem = Problem(features, np.column_stack([1 - aim, aim]), weight, tied, begin, strength)
        return solve(problem, self.lowest)[:, 1]
