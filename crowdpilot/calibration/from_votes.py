"""Calibration from votes alone, without true labels: a map fitted by EM to the likelihood of the votes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import FittedMap, Map
from crowdpilot.calibration.sample import check_probs
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.votes import Votes

MIN_PROB = 1e-6  # a probability of a confusion matrix or prediction counts as at least this
MAX_ITERATIONS = 100  # of EM
TOLERANCE = 1e-4  # EM ends when no probability changes by more


def fit_on_votes(
    map: Map,
    probs: ArrayLike,
    votes: Votes,
    confusion: Floats,
    *,
    one_vote_per_task: bool = False,
    seed: int = 0,
) -> FittedMap:
    """The map that maximizes the likelihood of the votes, by EM.

    The class of a task has the mapped probabilities, and workers label it by their confusion matrices:
    P(votes) = Π_i Σ_k map(probs_i)[k] · Π_j confusion[j, k, vote_ij]. The E-step is the posterior of each
    task, the M-step fits the map to it. Where errors of votes are dependent, the votes get too much
    weight; then the simpler `map.fit(probs, aggregate.probs)`, with the posterior of a worker model, is
    closer to the truth (see docs/calibration.md for figures).

    Parameters
    ----------
    map
        What is fitted.
    probs
        (tasks, classes), predictions of a classifier that has not seen the votes on these tasks.
    votes
        Tasks without votes are left out.
    confusion
        (workers, true, said), of a model that has not seen the classifier.
    one_vote_per_task
        Use one random vote of each task, so that errors shared by the votes on a task do not matter.
    seed
        Of the choice of those votes.
    """
    p = check_probs(probs)
    if p.shape != (len(votes.tasks), len(votes.classes)):
        raise ValueError(
            f"the probabilities have shape {p.shape}, expected a row for each of {len(votes.tasks)} tasks "
            f"and a column for each of {len(votes.classes)} classes"
        )
    used = sample_one_vote_per_task(votes, seed) if one_vote_per_task else votes
    log_likelihood = votes_log_likelihood(used, np.log(np.maximum(confusion, MIN_PROB)))
    voted = np.unique(used.task)
    p, log_likelihood = p[voted], log_likelihood[voted]
    prior = p
    for _ in range(MAX_ITERATIONS):
        fitted = map.fit(p, softmax(np.log(np.maximum(prior, MIN_PROB)) + log_likelihood, axis=1))
        before, prior = prior, fitted(p)
        if np.abs(prior - before).max() < TOLERANCE:
            break
    return fitted


def sample_one_vote_per_task(votes: Votes, seed: int = 0) -> Votes:
    """One random vote of each task that has any.

    Examples
    --------
    >>> votes = Votes.of(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
    >>> sample_one_vote_per_task(votes).task.tolist()
    [0, 1]
    """
    order = np.random.default_rng(seed).permutation(len(votes))
    _, first = np.unique(votes.task[order], return_index=True)
    return votes.take(np.sort(order[first]))
