"""Temperature scaling (Guo et al. 2017): softmax(log p / T) with one temperature T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.calibration.base import FittedMap, Map, raise_to_floor
from crowdpilot.calibration.cross_entropy import fit_inverse_temperature
from crowdpilot.calibration.linear_scaling import FittedScaling
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, kw_only=True)
class Temperature(Map):
    """softmax(log p / T); the most probable class does not change.

    Parameters
    ----------
    strength
        Precision of the normal prior of 1 / T around 1; it matters little with more than some dozens of
        tasks.

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

    def n_parameters(self, K: int) -> int:
        return 1

    def fit_sample(self, sample: Sample) -> FittedMap:
        log_probs = np.log(raise_to_floor(sample.probs, self.floor))
        slope = fit_inverse_temperature(log_probs, sample.target, sample.weight, self.strength)
        return FittedScaling.of_power(self, log_probs.shape[1], slope)
