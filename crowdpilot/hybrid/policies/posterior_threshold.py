"""A threshold on belief: an item retires when crowd and machine together are sure enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Policy, View, of_crowd


@dataclass(frozen=True)
class BeliefThreshold(Policy):
    """Ask until the most probable class has `belief`, or `most` votes have come; the least sure first.

    Parameters
    ----------
    belief
        From which on an item is done.
    most
        Votes on one item.

    References
    ----------
    Marshall et al., Space Warps I (SWAP), MNRAS 455(2), 2016. https://arxiv.org/abs/1504.06148
    """

    belief: float = 0.95
    most: int = 20

    name: ClassVar[str] = "belief_threshold"
    aliases: ClassVar[tuple[str, ...]] = ("swap", "caesar")

    def want(self, view: View) -> Floats:
        short = self.belief - view.probs.max(axis=1)
        open_ = (view.pending == 0) & (view.votes < self.most)
        return of_crowd(np.where(open_, short, NEVER), view)
