"""A switch point: first teach the machine, then let crowd and machine classify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policies.posterior_threshold import BeliefThreshold
from crowdpilot.hybrid.policies.shortest_run import ShortestRun
from crowdpilot.hybrid.policy import NEVER, Policy, View, of_crowd


@dataclass(frozen=True)
class SwitchPoint(Policy):
    """AHC: until a share of the items has votes, those the machine is least sure of; then shortest runs.

    With more than two classes items retire by a threshold on belief in the second phase.

    Parameters
    ----------
    switch
        Share of the items that are labelled to teach the machine.
    votes
        On each of these.
    belief
        From which on an item is done in the second phase.

    References
    ----------
    Krivosheev, Casati and Bozzon, Active hybrid classification, 2021.
    https://arxiv.org/abs/2101.06881
    """

    switch: float = 0.2
    votes: int = 3
    belief: float = 0.95

    name: ClassVar[str] = "switch_point"
    aliases: ClassVar[tuple[str, ...]] = ("ahc",)

    def want(self, view: View) -> Floats:
        if view.reached < self.switch:
            source = view.probs if view.machine is None else view.machine
            unsure = np.where(view.votes == 0, 1 - source.max(axis=1), 2)  # what is begun comes first
            return of_crowd(np.where(view.votes < self.votes, unsure, NEVER), view)
        if view.probs.shape[1] == 2:
            return ShortestRun(belief=self.belief).want(view)
        return BeliefThreshold(belief=self.belief).want(view)
