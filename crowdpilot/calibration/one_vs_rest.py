"""One-vs-rest calibration: the base of maps with a logistic curve for each class, such as Platt and beta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import FittedMap, Map, raise_to_floor
from crowdpilot.calibration.cross_entropy import SoftmaxRegression, fit_coefficients, fit_inverse_temperature
from crowdpilot.calibration.sample import Sample, log_loss

IDENTITY = np.array([1.0, 1.0, 0.0])  # logistic(log p - log(1 - p)) is p


@dataclass(frozen=True, eq=False)
class FittedCurves(FittedMap):
    """logistic(a log p - b log(1 - p) + c) for each class, divided by the sum over classes."""

    kind: ClassVar[str] = "one_vs_rest"
    file_names: ClassVar[Mapping[str, str]] = {"coefficients": "coefficients"}

    coefficients: Floats  # a, b and c of each class, (classes, 3)

    @property
    def classes(self) -> int:
        return len(self.coefficients)

    def apply(self, probs: Floats) -> Floats:
        a, b, c = self.coefficients.T
        curve: Floats = expit(a * np.log(probs) - b * np.log1p(-probs) + c)
        return curve


@dataclass(frozen=True, kw_only=True)
class OneVsRest(Map):
    """logistic(a log p - b log(1 - p) + c) for each class, divided by the sum over classes.

    With two classes the curves sum to one by themselves. With more they are fitted one by one, and if the
    normalized result has no lower cross-entropy than the probabilities themselves, the identity is used.

    Parameters
    ----------
    strength
        Precision of the normal prior of a and b around the best inverse temperature, and of c around 0;
        it matters little with hundreds of tasks.
    """

    strength: float = 10.0

    parameter_index: ClassVar[tuple[int, int, int]]  # of a, b and c
    lower_bounds: ClassVar[tuple[float, ...]]  # of each parameter

    def n_parameters(self, K: int) -> int:
        return K * len(self.lower_bounds)

    def fit_sample(self, sample: Sample) -> FittedMap:
        probs = raise_to_floor(sample.probs, self.floor)
        mean = IDENTITY * fit_inverse_temperature(np.log(probs), sample.target, sample.weight)
        classes = zip(probs.T, sample.target.T, strict=True)
        curves = [self._fit_curve(p, t, sample.weight, mean) for p, t in classes]
        fitted = FittedCurves(self.name, self.floor, np.array(curves))
        if sample.weight @ (log_loss(sample, fitted(probs)) - log_loss(sample, probs)) > 0:
            return FittedCurves(self.name, self.floor, np.tile(IDENTITY, (len(curves), 1)))
        return fitted

    def curve_target(self, target: Floats, weight: Floats) -> Floats:
        """The target of the curve of one class, (tasks,)."""
        return target

    def _fit_curve(self, p: Floats, target: Floats, weight: Floats, mean: Floats) -> Floats:
        """a, b and c of one class, (3,), with this prior mean."""
        features = np.column_stack([np.log(p), -np.log1p(-p), np.ones(len(p))])
        goal = self.curve_target(target, weight)
        index: NDArray[np.intp] = np.column_stack([[-1, -1, -1], self.parameter_index])
        means = mean[[self.parameter_index.index(n) for n in range(len(self.lower_bounds))]]
        precision = np.full(len(means), self.strength)
        problem = SoftmaxRegression(
            features, np.column_stack([1 - goal, goal]), weight, index, means, precision
        )
        return fit_coefficients(problem, self.lower_bounds)[:, 1]
