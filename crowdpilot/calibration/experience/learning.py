"""Learning from many crowds: hierarchical logistic regression, coefficients that vary between crowds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.calibration.experience.crowd_map import CrowdMap

MAX_ITERATIONS = 100  # of EM
TOLERANCE = 1e-4  # of coefficients and their covariance
PRIOR_CROWDS = 1.0  # pseudo-crowds of the covariance between crowds ...
PRIOR_VARIANCE = 0.1  # ... with this variance of each coefficient


class Crowd(NamedTuple):
    """The labels of one crowd whose truth is known."""

    features: Floats  # (tasks, features)
    right: Floats  # 1 where the label is right, else 0, (tasks,)
    task_weight: Floats  # (tasks,)
    weight: float  # of the crowd among all


def learn_experience(crowds: Sequence[Crowd]) -> CrowdMap:
    """The distribution of the coefficients over crowds, by EM with Laplace's approximation.

    E-step: the coefficients of each crowd given its labels and the distribution. M-step: mean and
    covariance of the coefficients of all crowds, by their weights.
    """
    if not crowds:
        raise ValueError("there are no crowds to learn from, expected at least one")
    F = crowds[0].features.shape[1]
    weight = np.array([crowd.weight for crowd in crowds])
    weight /= weight.sum()
    effective = 1 / float(weight @ weight)
    prior = CrowdMap(np.zeros(F), 0.3 * np.eye(F))
    for _ in range(MAX_ITERATIONS):
        fits = [prior.update(crowd.features, crowd.right, crowd.task_weight).map for crowd in crowds]
        means = np.array([fit.mean for fit in fits])
        mean = weight @ means
        spread = np.einsum("c,cf,cg->fg", weight, means - mean, means - mean)
        spread += np.einsum("c,cfg->fg", weight, np.array([fit.covariance for fit in fits]))
        spread = (effective * spread + PRIOR_CROWDS * PRIOR_VARIANCE * np.eye(F)) / (effective + PRIOR_CROWDS)
        before, prior = prior, CrowdMap(mean, spread)
        moved = max(np.abs(mean - before.mean).max(), np.abs(spread - before.covariance).max())
        if moved < TOLERANCE:
            break
    return prior
