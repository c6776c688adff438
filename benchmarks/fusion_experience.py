"""Learning the experience of `Fusion` from crowds whose truth is known, a group of sets left out or none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from benchmarks import sets
from benchmarks.fusion_sets import AssistedCrowd
from crowdpilot.aggregation.fusion import (
    EXPERIENCE,
    Evidence,
    FusionExperience,
    choose_weights,
    collect_evidence,
)
from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration import FusionWeights

CROWD_ACCURACY = (0.6, 0.7, 0.8)
SKILL_VOTES = (6.0, 20.0)
MATRIX_VOTES = (6.0, 20.0)
POWERS = (0.0, 0.5, 1.0)
MAX_TASKS = 400  # of each crowd, to learn from; of more, every n-th
WEAK = 0.5  # weight of a crowd whose truth is weak
NEUTRAL = FusionWeights(1.0, 1.0)


class CrowdEvidence(NamedTuple):
    """What the evidence of one crowd was, and the truth."""

    group: str
    weak: bool
    evidence: Evidence
    truth: Codes


class Fit(NamedTuple):
    """An experience, and its mean log-loss on the crowds it was learned from."""

    experience: FusionExperience
    log_loss: float


class Teacher:
    """Learns experience from crowds; evidence is collected once for each choice of pseudo-votes.

    Parameters
    ----------
    crowds
        With truth; a group counts as much as another, whatever its number of sets.
    """

    def __init__(self, crowds: Sequence[AssistedCrowd]) -> None:
        self.crowds = crowds

    @cached_property
    def evidence(self) -> dict[FusionExperience, list[CrowdEvidence]]:
        """By the pseudo-votes that they were collected with."""
        choices = product(CROWD_ACCURACY, SKILL_VOTES, MATRIX_VOTES)
        settings = [
            EXPERIENCE._replace(crowd_accuracy=accuracy, skill_votes=skill, matrix_votes=matrix)
            for accuracy, skill, matrix in choices
        ]
        return {setting: [_collect(crowd, setting) for crowd in self.crowds] for setting in settings}

    def learn(self, without: str | None = None) -> FusionExperience:
        """The experience of least log-loss on all groups but one."""
        fits = [
            _fit([crowd for crowd in crowds if crowd.group != without], setting._replace(power=power))
            for (setting, crowds), power in product(self.evidence.items(), POWERS)
        ]
        return min(fits, key=lambda fit: fit.log_loss).experience


def _collect(assisted: AssistedCrowd, setting: FusionExperience) -> CrowdEvidence:
    crowd = assisted.crowd
    evidence = collect_evidence(crowd.votes.merged, assisted.probs, setting)
    known = np.flatnonzero(crowd.truth >= 0)
    known = known[:: -(-len(known) // MAX_TASKS)]
    evidence = evidence._replace(
        classifier=evidence.classifier[known], log_likelihood=evidence.log_likelihood[known]
    )
    return CrowdEvidence(assisted.group, crowd.name in sets.WEAK, evidence, crowd.truth[known])


def _fit(crowds: Sequence[CrowdEvidence], setting: FusionExperience) -> Fit:
    """Usual weights by held-out votes, then the weights of least log-loss."""
    groups = [crowd.group for crowd in crowds]
    share = np.array([(WEAK if crowd.weak else 1.0) / groups.count(crowd.group) for crowd in crowds])
    found = [(s, crowd.evidence.held_out) for s, crowd in zip(share, crowds, strict=True)]
    held_out = [(s, np.log([w.classifier, w.crowd])) for s, w in found if w is not None]
    usual = np.exp(np.average([w for _, w in held_out], axis=0, weights=[s for s, _ in held_out]))
    setting = setting._replace(weights=NEUTRAL, held_out=FusionWeights(*usual.round(2).tolist()))
    parts = [_logs(crowd, setting) for crowd in crowds]
    share /= share.sum()

    def objective(weights: Floats) -> tuple[float, Floats]:
        loss, slope = 0.0, np.zeros(2)
        for s, (logs, truth) in zip(share, parts, strict=True):
            log_posterior = log_softmax(np.tensordot(weights, logs, 1), axis=1)
            rows = np.arange(len(truth))
            loss -= s * float(log_posterior[rows, truth].mean())
            error = np.exp(log_posterior)
            error[rows, truth] -= 1
            slope += s * (logs * error).sum(axis=(1, 2)) / len(truth)
        return loss, slope

    optimum: Any = minimize(objective, np.full(2, 0.7), jac=True, method="L-BFGS-B", bounds=[(0.05, 5)] * 2)
    weights = FusionWeights(*optimum.x.round(2).tolist())
    return Fit(setting._replace(weights=weights), float(optimum.fun))


def _logs(crowd: CrowdEvidence, setting: FusionExperience) -> tuple[Floats, Codes]:
    """Evidence of classifier and votes with relative weights by held-out votes, (2, tasks, classes)."""
    relative = choose_weights(crowd.evidence, setting)
    logs = np.stack(
        [
            relative.classifier * np.log(crowd.evidence.classifier),
            relative.crowd * crowd.evidence.log_likelihood,
        ]
    )
    return logs, crowd.truth
