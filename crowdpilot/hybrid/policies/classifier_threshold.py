"""A threshold on the machine's confidence: what it is sure of is its own, the rest goes to the crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.campaign.question import Question
from crowdpilot.hybrid.policy import NEVER, Policy, View, of_crowd


@dataclass(frozen=True)
class MachineThreshold(Policy):
    """The machine labels where its confidence reaches `confidence`; elsewhere `votes` people do.

    Parameters
    ----------
    confidence
        From which on the machine decides alone.
    votes
        On each other item.
    strategy
        The aggregator of those.

    References
    ----------
    Callaghan, William, et al., MechanicalHeart: a human-machine framework for the classification of
    phonocardiograms, CSCW 2018.
    """

    confidence: float = 0.9
    votes: int = 3
    strategy: str = "majority_voting"

    name: ClassVar[str] = "machine_threshold"
    aliases: ClassVar[tuple[str, ...]] = ("callaghan",)

    def want(self, view: View) -> Floats:
        wanted = self.votes - view.votes
        if view.machine is not None:
            wanted = np.where(view.machine.max(axis=1) >= self.confidence, NEVER, wanted)
        return of_crowd(wanted, view)

    def judge(self, question: Question) -> Floats:
        said = parse_strategy(self.strategy).fit(question.votes()).probs
        if question.machine is None:
            return said
        alone = (question.machine.max(axis=1) >= self.confidence) | (question.tally.sum(axis=1) == 0)
        return np.where(alone[:, None], question.machine, said)
