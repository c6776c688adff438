"""Skill of workers by honest probabilities: a Beta distribution of the accuracy of each worker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from crowdpilot.aggregation.sparse.posterior import Posterior, probability_of
from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.calibration.experience import CrowdEstimate
from crowdpilot.votes import Votes

JEFFREYS = 0.5  # pseudo-votes right, and as many wrong (Jeffreys' prior)
MIN_VARIANCE = 1e-12
WORKER_VARIANCE = 0.01  # of the accuracy of a worker beside the evidence, as a share of s (1 - s)
MIN_SKILL = 1e-4  # as no probability of a label is larger than 1 - 1e-4


class SkillDistribution(NamedTuple):
    """The skill of each worker, the probability that a vote of theirs is right, as a Beta distribution."""

    right: Floats  # pseudo-votes that are right, (workers,); NaN for a worker without votes
    wrong: Floats  # (workers,)

    @property
    def mean(self) -> Floats:
        """The expected skill of each worker, (workers,)."""
        return self.right / (self.right + self.wrong)

    def quantile(self, level: float) -> Floats:
        """The skill that each worker is below with this probability, (workers,)."""
        skill: Floats = betaincinv(self.right, self.wrong, level).astype(np.float64)
        return skill


def skill_distribution(
    votes: Votes, posterior: Posterior, labels: Codes, crowd: CrowdEstimate
) -> SkillDistribution:
    """The skill of each worker by the honest posterior of the tasks.

    The expected accuracy of a worker is the mean probability of their labels. Its variance has four parts:

    - of the coefficients of the crowd's map, g' S g with the gradient g of the expected accuracy and their
      covariance S: a crowd that errs together is wrong about all its workers at once;
    - of the classes of the tasks, the sum of p (1 - p) over the votes, divided by their squared number;
    - of the worker, whose tasks may be easier or harder than the evidence tells, in proportion to s (1 - s);
    - of the votes, which are a sample of what the worker would say, s (1 - s) / (n + 1).

    A Beta distribution has the same mean and variance. On gold tasks a vote is known to be right or wrong,
    and adds to the distribution as a whole vote, so that a few of them outweigh many whose class is doubtful.

    Parameters
    ----------
    votes
        With gold labels of some tasks if there are any.
    posterior
        The honest posterior of the tasks, (tasks, classes), dense or sparse.
    labels
        The label of each task, (tasks,).
    crowd
        The map of the crowd, and the evidence for the label of each task.
    """
    votes, W = votes.merged, len(votes.workers)
    total = votes.worker_sum()
    voted = total > 0
    if len(votes.classes) < 2:
        return SkillDistribution(*(np.where(voted, x, np.nan) for x in (total + JEFFREYS, JEFFREYS)))
    p = probability_of(posterior, votes.task, votes.label)
    is_gold = np.zeros(len(votes), bool) if votes.gold is None else votes.gold[votes.task] >= 0
    weight = np.where(is_gold, 0.0, votes.weights)  # of votes on tasks whose class is doubtful
    count = np.bincount(votes.worker, weight, W)
    mean = divide(np.bincount(votes.worker, weight * p, W), count, 0.5).clip(MIN_SKILL, 1 - MIN_SKILL)
    gradient = divide(_gradient_sum(votes, posterior, labels, crowd, weight * p, weight), count[:, None], 0.0)
    variance = np.einsum("wf,fg,wg->w", gradient, crowd.map.covariance, gradient)
    variance += divide(np.bincount(votes.worker, weight**2 * p * (1 - p), W), count**2, 0.0)
    variance += mean * (1 - mean) * (WORKER_VARIANCE + 1 / (count + 1))
    effective_votes = mean * (1 - mean) / np.maximum(variance, MIN_VARIANCE) - 1
    effective_votes = np.maximum(effective_votes, 2 * JEFFREYS)
    known = np.where(is_gold, votes.weights, 0.0)
    right = effective_votes * mean + np.bincount(votes.worker, known * p, W)
    wrong = effective_votes * (1 - mean) + np.bincount(votes.worker, known * (1 - p), W)
    return SkillDistribution(np.where(voted, right, np.nan), np.where(voted, wrong, np.nan))


def _gradient_sum(
    votes: Votes, posterior: Posterior, labels: Codes, crowd: CrowdEstimate, right: Floats, weight: Floats
) -> Floats:
    """Gradient of the expected number of right votes by the coefficients of the map, (workers, features).

    If the confidence of a label rises by d, a vote for it gains d, and one for another class with
    probability p loses d p / (1 - confidence). `right` is the weight of each vote times p.
    """
    confidence = probability_of(posterior, np.arange(len(labels)), labels)
    by_log_odds = crowd.map.slope(crowd.features)
    others = np.maximum(1 - confidence, MIN_VARIANCE)[votes.task]
    gain = np.where(votes.label == labels[votes.task], weight, -right / others) * by_log_odds[votes.task]
    columns = [np.bincount(votes.worker, gain * f[votes.task], len(votes.workers)) for f in crowd.features.T]
    return np.stack(columns, axis=1)
