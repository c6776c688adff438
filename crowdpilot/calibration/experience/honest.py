"""Honest posterior: the posterior of a model with the confidence that its label deserves by experience."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration.experience.crowd_map import AccuracyEstimate, CrowdMap
from crowdpilot.calibration.experience.evidence import Evidence, collect_evidence
from crowdpilot.calibration.experience.file import load_experience
from crowdpilot.votes import Votes

MARGIN = 1e-6  # by which the probability of the label exceeds that of every other class, at least
MAX_CONFIDENCE = 0.9999
GOLD_LEVEL = 0.98  # of the interval of right labels on gold tasks


class GoldCheck(NamedTuple):
    """How the labels that the votes would give to gold tasks compare with their gold labels."""

    tasks: int  # with a gold label and votes
    right: int
    expected: AccuracyEstimate  # share of right labels by experience, before the gold labels are seen
    log_likelihood: float  # of right and wrong labels, with the coefficients integrated out

    @property
    def contradicts(self) -> bool:
        """Whether the votes are wrong on gold tasks more often than those of nearly all crowds."""
        return self.right < self.expected.low * self.tasks


class HonestPosterior(NamedTuple):
    """Honest probabilities, and how many labels are right in all."""

    probs: Floats  # (tasks, classes)
    accuracy: AccuracyEstimate
    map: CrowdMap  # of this crowd
    evidence: Evidence
    gold: GoldCheck | None


def honest_posterior(
    votes: Votes, posterior: Floats, labels: Codes, experience: CrowdMap | None = None
) -> HonestPosterior:
    """The posterior of a model with honest confidence; the labels stay the same.

    The probability of the label of each task is that of a `CrowdMap`, whose coefficients come from
    experience, and from the gold labels of tasks that have votes. The rest is divided among the other
    classes as single votes would, but none gets more than the label.

    Parameters
    ----------
    votes
        Merged, with gold labels of some tasks if there are any.
    posterior
        Of a model, (tasks, classes).
    labels
        The label of each task, (tasks,).
    experience
        The distribution of coefficients over crowds; that of the package if not given.
    """
    prior = load_experience() if experience is None else experience
    evidence = collect_evidence(votes, posterior, labels)
    voted = votes.task_sum() > 0
    gold = np.full(len(voted), -1) if votes.gold is None else votes.gold
    fitted, check = prior, None
    known = voted & (gold >= 0)
    if known.any():
        right = (evidence.label == gold)[known].astype(np.float64)
        features = evidence.features[known]
        fit = prior.update(features, right)
        expected = prior.accuracy(features, level=GOLD_LEVEL)
        fitted, check = fit.map, GoldCheck(len(right), int(right.sum()), expected, fit.log_likelihood)
    open_tasks = voted & (gold < 0)
    probs = votes.clamp(_spread(fitted, evidence, posterior, labels, open_tasks))
    accuracy = fitted.accuracy(evidence.features[open_tasks], int((gold >= 0).sum()))
    return HonestPosterior(probs, accuracy, fitted, evidence, check)


def _spread(
    fitted: CrowdMap, evidence: Evidence, posterior: Floats, labels: Codes, open_tasks: np.ndarray
) -> Floats:
    """Probabilities of all classes from the confidence of the label, (tasks, classes)."""
    rows = np.flatnonzero(open_tasks)
    label = labels[rows]
    confidence = np.minimum(fitted.confidence(evidence.features[rows]), MAX_CONFIDENCE)
    others = evidence.pool[rows]
    others[np.arange(len(rows)), label] = 0
    others /= others.sum(axis=1, keepdims=True)
    largest = others.max(axis=1)
    confidence = np.maximum(confidence, largest / (1 + largest) + MARGIN)
    honest = others * (1 - confidence)[:, None]
    honest[np.arange(len(rows)), label] = confidence
    probs = np.array(posterior, np.float64)
    probs[rows] = honest
    return probs
