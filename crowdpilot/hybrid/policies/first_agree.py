"""First to agree: an item is done when one label has enough votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Evidence, Policy, View, crowd_values


@dataclass(frozen=True)
class FirstAgree(Policy):
    """Ask until one label has `votes` votes, or the item has `max_votes`; the majority decides.

    Parameters
    ----------
    votes
        That must agree.
    max_votes
        On one item.

    References
    ----------
    A rule of Zooniverse's Caesar and of many labelling tools.
    """

    votes: int = 3
    max_votes: int = 7

    name: ClassVar[str] = "first_agree"
    uses_classifier: ClassVar[bool] = False

    def acquisition_values(self, view: View) -> Floats:
        missing = self.votes - view.tally.max(axis=1) - view.pending
        return crowd_values(np.where(view.votes < self.max_votes, missing, NEVER), view)

    def final_posterior(self, evidence: Evidence) -> Floats:
        return parse_strategy("majority_voting").fit(evidence.votes()).probs

    @property
    def decision_rule(self) -> str:
        return "the majority of the votes on an item decides"
