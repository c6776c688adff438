"""Temperature scaling: one number makes all probabilities bolder or more modest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.calibration.base import Fitted, Map, raised
from crowdpilot.calibration.cross_entropy import slope
from crowdpilot.calibration.linear_scaling import Scaled
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, kw_only=True)
class Temperature(Map):
    """softmax(log p / T): the most probable class stays what it was.

    Parameters
    ----------
    floor
        Probabilities below count as this, so that all have a logarithm.
    strength
        How firmly 1 / T is held at 1: the precision of a normal prior. It counts little against more
        than some dozens of tasks.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> said = np.array([[0.99, 0.01]] * 10)  # right 8 times of 10
    >>> map = Temperature(strength=0).fit(said, [0] * 8 + [1] * 2)
    >>> map(said)[0].round(3).tolist()
    [0.8, 0.2]
    """

    strength: float = 1.0

    name: ClassVar[str] = "temperature"
    aliases: ClassVar[tuple[str, ...]] = ("ts",)

    def size(self, K: int) -> int:
        return 1

    def learn(self, sample: Sample) -> Fitted:
        K = sample.probs.shape[1]
        logs = np.log(raised(sample.probs, self.floor))
        bold = slope(logs, sample.target, sample.weight, self.strength)
        return Scaled(self.name, self.floor, bold * np.eye(K), np.zeros(K))
