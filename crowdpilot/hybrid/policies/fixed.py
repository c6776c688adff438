"""Fixed redundancy: the same number of votes on every item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import Evidence, Policy, View, crowd_values


@dataclass(frozen=True)
class Fixed(Policy):
    """Every item gets `votes` votes, and an aggregator decides.

    Parameters
    ----------
    votes
        On each item.
    strategy
        The aggregator, such as "majority_voting" or "dawid_skene".
    """

    votes: int = 5
    strategy: str = "majority_voting"

    name: ClassVar[str] = "fixed"
    uses_classifier: ClassVar[bool] = False

    def acquisition_values(self, view: View) -> Floats:
        return crowd_values(self.votes - view.votes, view)

    def final_posterior(self, evidence: Evidence) -> Floats:
        return parse_strategy(self.strategy).fit(evidence.votes()).probs

    @property
    def decision_rule(self) -> str:
        return f"{self.strategy} decides from the votes on all items"
