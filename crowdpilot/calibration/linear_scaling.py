"""Maps that are a linear function of the logarithms: softmax(W log p + b)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, softmax
from crowdpilot.calibration.base import Fitted, Map, raised
from crowdpilot.calibration.cross_entropy import Problem, slope, solve
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, eq=False)
class Scaled(Fitted):
    """softmax(weights @ log p + intercept)."""

    weights: Floats  # (classes, classes), [to, from]
    intercept: Floats  # (classes,)

    @property
    def classes(self) -> int:
        return len(self.intercept)

    def apply(self, probs: Floats) -> Floats:
        return softmax(np.log(probs) @ self.weights.T + self.intercept)


@dataclass(frozen=True, kw_only=True)
class Scaling(Map):
    """softmax(W log p + b), where each map constrains W and b in its own way.

    Parameters
    ----------
    floor
        Probabilities below count as this, so that all have a logarithm.
    strength
        How firmly the parameters are held at those of the best temperature: the precision of a
        normal prior, that counts little against hundreds of tasks.
    """

    strength: float = 10.0

    centred: ClassVar[bool] = False  # whether the logarithms of each task are brought to a mean of zero

    def size(self, K: int) -> int:
        return int(self.tied(K).max()) + 1

    @abstractmethod
    def tied(self, K: int) -> NDArray[np.intp]:
        """Which parameter stands where in W transposed over b, (classes + 1, classes); -1: none."""

    def strengths(self, tied: NDArray[np.intp]) -> Floats:
        """The strength of each parameter."""
        return np.full(tied.max() + 1, self.strength)

    def learn(self, sample: Sample) -> Fitted:
        logs = np.log(raised(sample.probs, self.floor))
        K = logs.shape[1]
        seen = np.eye(K) - self.centred / K  # what of the logarithms W is shown
        tied = self.tied(K)
        centre = np.zeros(tied.max() + 1)
        centre[tied[np.diag_indices(K)]] = slope(logs, sample.target, sample.weight)
        features = np.column_stack([logs @ seen, np.ones(len(logs))])
        problem = Problem(features, sample.target, sample.weight, tied, centre, self.strengths(tied))
        found = solve(problem)
        return Scaled(self.name, self.floor, found[:K].T @ seen, found[K])
