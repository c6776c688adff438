"""Posterior threshold: an item is done when one class has a high posterior probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Policy, View, crowd_values


@dataclass(frozen=True)
class PosteriorThreshold(Policy):
    """Ask until a class has the posterior `threshold`, or the item has `max_votes`; the least sure first.

    Parameters
    ----------
    threshold
        Posterior probability of the most probable class from which on an item is done.
    max_votes
        On one item.

    References
    ----------
    Marshall et al., Space Warps I (SWAP), MNRAS 455(2), 2016. https://arxiv.org/abs/1504.06148
    """

    threshold: float = 0.95
    max_votes: int = 20

    name: ClassVar[str] = "posterior_threshold"
    aliases: ClassVar[tuple[str, ...]] = ("swap", "caesar")

    def acquisition_values(self, view: View) -> Floats:
        missing = self.threshold - view.consensus.max(axis=1)
        may_ask = (view.pending == 0) & (view.votes < self.max_votes)
        return crowd_values(np.where(may_ask, missing, NEVER), view)
