"""Linear scaling: the base of maps softmax(W log p + b), such as vector, matrix and Dirichlet scaling."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, softmax
from crowdpilot.calibration.base import FittedMap, Map, raise_to_floor
from crowdpilot.calibration.cross_entropy import SoftmaxRegression, fit_coefficients, fit_inverse_temperature
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, eq=False)
class FittedScaling(FittedMap):
    """softmax(weights @ log p + intercept)."""

    kind: ClassVar[str] = "linear_scaling"
    file_names: ClassVar[Mapping[str, str]] = {"weights": "weights", "intercept": "intercept"}

    weights: Floats  # (classes, classes), [to, from]
    intercept: Floats  # (classes,)

    @classmethod
    def of_power(cls, map: Map, K: int, power: float) -> FittedScaling:
        """The map from p to p ** power, scaled to sum to one: what temperature scaling of K classes gives."""
        return cls(map.name, map.floor, power * np.eye(K), np.zeros(K))

    @property
    def classes(self) -> int:
        return len(self.intercept)

    def apply(self, probs: Floats) -> Floats:
        return softmax(np.log(probs) @ self.weights.T + self.intercept)


@dataclass(frozen=True, kw_only=True)
class LinearScaling(Map):
    """softmax(W log p + b), where each map has its own constraints on W and b.

    Parameters
    ----------
    strength
        Precision of the normal prior of the parameters around temperature scaling (W = 1/T, b = 0);
        it matters little with hundreds of tasks.
    """

    strength: float = 10.0

    centred: ClassVar[bool] = False  # whether log p is centred to mean zero for each task

    def n_parameters(self, K: int) -> int:
        return int(self.parameter_index(K).max()) + 1

    @abstractmethod
    def parameter_index(self, K: int) -> NDArray[np.intp]:
        """The parameter of each entry of W transposed, b below it, (classes + 1, classes); -1 is a zero."""

    def precisions(self, index: NDArray[np.intp]) -> Floats:
        """The prior precision of each parameter, (parameters,)."""
        return np.full(index.max() + 1, self.strength)

    def fit_sample(self, sample: Sample) -> FittedMap:
        log_probs = np.log(raise_to_floor(sample.probs, self.floor))
        K = log_probs.shape[1]
        centring = np.eye(K) - self.centred / K
        index = self.parameter_index(K)
        mean = np.zeros(index.max() + 1)
        mean[index[np.diag_indices(K)]] = fit_inverse_temperature(log_probs, sample.target, sample.weight)
        features = np.column_stack([log_probs @ centring, np.ones(len(log_probs))])
        problem = SoftmaxRegression(
            features, sample.target, sample.weight, index, mean, self.precisions(index)
        )
        coefficients = fit_coefficients(problem)
        return FittedScaling(self.name, self.floor, coefficients[:K].T @ centring, coefficients[K])
