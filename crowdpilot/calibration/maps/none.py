"""No map at all, as a map: what every other one has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.calibration.base import Fitted, Map
from crowdpilot.calibration.linear_scaling import Scaled
from crowdpilot.calibration.sample import Sample


@dataclass(frozen=True, kw_only=True)
class NoMap(Map):
    """The identity: probabilities stay what they are, above the floor.

    Examples
    --------
    >>> NoMap().fit([[0.9, 0.1], [0.3, 0.7]], [1, 0])([[0.25, 0.75]]).tolist()
    [[0.25, 0.75]]
    """

    name: ClassVar[str] = "none"
    aliases: ClassVar[tuple[str, ...]] = ("identity",)

    def size(self, K: int) -> int:
        return 0

    def learn(self, sample: Sample) -> Fitted:
        K = sample.probs.shape[1]
        return Scaled(self.name, self.floor, np.eye(K), np.zeros(K))
