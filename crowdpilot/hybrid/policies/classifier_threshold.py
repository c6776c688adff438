"""Classifier threshold: the classifier labels where it is confident, the crowd labels the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Evidence, Policy, View, crowd_values


@dataclass(frozen=True)
class ClassifierThreshold(Policy):
    """The classifier labels where its confidence reaches `confidence`; elsewhere `votes` workers do.

    Parameters
    ----------
    confidence
        The largest class probability from which on the classifier decides alone.
    votes
        On each other item.
    strategy
        The aggregator of those votes.

    References
    ----------
    Callaghan, William, et al., MechanicalHeart: a human-machine framework for the classification of
    phonocardiograms, CSCW 2018.
    """

    confidence: float = 0.9
    votes: int = 3
    strategy: str = "majority_voting"

    name: ClassVar[str] = "classifier_threshold"
    aliases: ClassVar[tuple[str, ...]] = ("callaghan",)

    def acquisition_values(self, view: View) -> Floats:
        missing = self.votes - view.votes
        if view.classifier is not None:
            missing = np.where(view.classifier.max(axis=1) >= self.confidence, NEVER, missing)
        return crowd_values(missing, view)

    def final_posterior(self, evidence: Evidence) -> Floats:
        crowd = parse_strategy(self.strategy).fit(evidence.votes()).probs
        classifier = evidence.classifier
        if classifier is None:
            return crowd
        alone = (classifier.max(axis=1) >= self.confidence) | (evidence.tally.sum(axis=1) == 0)
        return np.where(alone[:, None], classifier, crowd)
