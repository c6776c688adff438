"""Hammers are always right, spammers answer at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from crowdpilot.simulation.base import SHARE, Crowd, Limits, Plan


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
    >>> votes, truth = HammerSpammer(n_task=1000, n_worker=10, ratio=0.3).run()
    >>> votes.worker_mean(votes.label == truth[votes.task]).round(1).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.2, 0.2, 0.2]
    """

    ratio: float = 0.1

    name: ClassVar[str] = "hammer-spammer"
    limits: ClassVar[Limits] = {**Crowd.limits, "ratio": SHARE}

    def plan(self, rng: Generator) -> Plan:
        spammers = round(self.ratio * self.n_worker)
        hammers = self.n_worker - spammers
        right = np.broadcast_to(np.eye(self.K), (hammers, self.K, self.K))
        random = np.full((spammers, self.K, self.K), 1 / self.K)
        given = self.matrices(hammers)
        return Plan(np.concatenate([right if given is None else given, random]))
