"""Fixed redundancy: as many votes for every item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.hybrid.policy import Policy, View, of_crowd


@dataclass(frozen=True)
class Fixed(Policy):
    """Every item gets `votes` votes, and an aggregator has the last word.

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
    machine: ClassVar[bool] = False

    def want(self, view: View) -> Floats:
        return of_crowd(self.votes - view.votes, view)

    def judge(self, question: Question) -> Floats:
        return parse_strategy(self.strategy).fit(question.votes()).probs
