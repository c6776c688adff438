"""The first few that agree: an item retires when one label has enough votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.hybrid.policy import NEVER, Policy, View, of_crowd


@dataclass(frozen=True)
class FirstAgree(Policy):
    """Ask until one label has `votes` votes, or `most` have come; the most frequent label wins.

    Parameters
    ----------
    votes
        That must agree.
    most
        Votes on one item.

    References
    ----------
    A rule of Zooniverse's Caesar and of many labelling tools.
    """

    votes: int = 3
    most: int = 7

    name: ClassVar[str] = "first_agree"
    machine: ClassVar[bool] = False

    def want(self, view: View) -> Floats:
        short = self.votes - view.tally.max(axis=1) - view.pending
        return of_crowd(np.where(view.votes < self.most, short, NEVER), view)

    def judge(self, question: Question) -> Floats:
        return parse_strategy("majority_voting").fit(question.votes()).probs
