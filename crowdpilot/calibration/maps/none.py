"""The identity map: no calibration, the baseline of all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.calibration.base import FittedMap, Map
from crowdpilot.calibration.linear_scaling import FittedScaling
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, kw_only=True)
class NoMap(Map):
    """The identity, except that probabilities are raised to the floor.

    Examples
    --------
    >>> NoMap().fit([[0.9, 0.1], [0.3, 0.7]], [1, 0])([[0.25, 0.75]]).tolist()
    [[0.25, 0.75]]
    """

    name: ClassVar[str] = "none"
    aliases: ClassVar[tuple[str, ...]] = ("identity",)

    def n_parameters(self, K: int) -> int:
        return 0

    def fit_sample(self, sample: Sample) -> FittedMap:
        return FittedScaling.of_power(self, sample.probs.shape[1], 1.0)
