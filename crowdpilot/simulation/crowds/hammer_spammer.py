"""Hammer-spammer: hammers are always right, spammers answer at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from crowdpilot.simulation.base import SHARE, Crowd, CrowdDesign, Limits


@dataclass(frozen=True, kw_only=True)
class HammerSpammer(Crowd):
    """Workers who are always right, and spammers who answer at random.

    Parameters
    ----------
    ratio
        Share of the workers who are spammers; they come last.

    References
    ----------
    Karger, Oh and Shah, NeurIPS 24, 2011.

    Examples
    --------
    >>> votes, truth = HammerSpammer(tasks=1000, workers=10, ratio=0.3).run()
    >>> votes.worker_mean(votes.label == truth[votes.task]).round(1).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.2, 0.2, 0.2]
    """

    ratio: float = 0.1

    name: ClassVar[str] = "hammer-spammer"
    limits: ClassVar[Limits] = {**Crowd.limits, "ratio": SHARE}

    def draw_design(self, rng: Generator) -> CrowdDesign:
        spammers = round(self.ratio * self.workers)
        hammers = self.workers - spammers
        right = np.broadcast_to(np.eye(self.classes), (hammers, self.classes, self.classes))
        random = np.full((spammers, self.classes, self.classes), 1 / self.classes)
        from_file = self.matrices(hammers)
        return CrowdDesign(np.concatenate([right if from_file is None else from_file, random]))
