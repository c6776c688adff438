"""Switch point (AHC): first label items to train the classifier, then classify with crowd and classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policies.posterior_threshold import PosteriorThreshold
from crowdpilot.hybrid.policies.shortest_run import ShortestRun
from crowdpilot.hybrid.policy import NEVER, Policy, View, crowd_values


@dataclass(frozen=True)
class SwitchPoint(Policy):
    """AHC: uncertainty sampling until a share of the items has votes, then shortest runs.

    With more than two classes items are done by a posterior threshold in the second phase.

    Parameters
    ----------
    switch
        Share of the items that are labelled to train the classifier.
    votes
        On each of these.
    threshold
        Posterior probability from which on an item is done in the second phase.

    References
    ----------
    Krivosheev, Casati and Bozzon, Active hybrid classification, 2021.
    https://arxiv.org/abs/2101.06881
    """

    switch: float = 0.2
    votes: int = 3
    threshold: float = 0.95

    name: ClassVar[str] = "switch_point"
    aliases: ClassVar[tuple[str, ...]] = ("ahc",)

    def acquisition_values(self, view: View) -> Floats:
        if view.share_with_votes < self.switch:
            probs = view.posterior if view.classifier is None else view.classifier
            uncertainty = np.where(view.votes == 0, 1 - probs.max(axis=1), 2)  # items with votes come first
            return crowd_values(np.where(view.votes < self.votes, uncertainty, NEVER), view)
        if view.posterior.shape[1] == 2:
            return ShortestRun(threshold=self.threshold).acquisition_values(view)
        return PosteriorThreshold(threshold=self.threshold).acquisition_values(view)
