"""Classifier threshold: the classifier labels where it is confident, the crowd labels the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.aggregation import parse_strategy
from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.policy import CLASSIFIER, NEVER, VOTES, Evidence, Policy, View, crowd_values


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
        votes, classifier = evidence.votes(), evidence.classifier()
        crowd = parse_strategy(self.strategy).fit(votes).probs
        if classifier is None:
            return crowd
        return votes.clamp(np.where(self._alone(classifier, evidence)[:, None], classifier, crowd))

    @property
    def decision_rule(self) -> str:
        return (
            f"the classifier decides where it is {self.confidence:.0%} sure and where there are no votes, "
            f"{self.strategy} from the votes elsewhere"
        )

    def sources(self, evidence: Evidence) -> Codes:
        classifier = evidence.classifier()
        if classifier is None:
            return super().sources(evidence)
        return np.where(self._alone(classifier, evidence), CLASSIFIER, VOTES).astype(np.int32)

    def _alone(self, classifier: Floats, evidence: Evidence) -> NDArray[np.bool_]:
        """Where the classifier decides whatever the votes are, (items,)."""
        return np.asarray((classifier.max(axis=1) >= self.confidence) | ~evidence.tally.any(axis=1))
