"""Calibration by votes alone: nobody knows the truth, but the crowd has an opinion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from crowdpilot.arrays import Floats
from crowdpilot.calibration.base import Fitted, Map
from crowdpilot.calibration.sample import check_probs
from crowdpilot.confusion_matrices import hear
from crowdpilot.votes import Votes

LEAST = 1e-6  # a probability of a confusion matrix counts as at least this
ROUNDS = 100
SETTLED = 1e-4  # change of a probability


def fit_on_votes(
    map: Map, probs: ArrayLike, votes: Votes, confusion: Floats, *, one: bool = False, seed: int = 0
) -> Fitted:
    """The map under which the votes are most likely, by EM.

    A task is of each class with the mapped probability, and workers confuse classes as their matrices
    say: P(votes) = prod_i sum_k map(probs_i)[k] · prod_j confusion[j, k, vote_ij]. Where votes err
    together this makes too much of them; then the simpler `map.fit(probs, aggregate.probs)`, with the
    posterior of a model of workers, is closer to the truth (see docs/calibrate.md for figures).

    Parameters
    ----------
    map
        What is fitted.
    probs
        (tasks, classes), what a classifier says of tasks whose votes it has not seen.
    votes
        Tasks without votes are left out.
    confusion
        (workers, true, said), of a model that has not seen the classifier.
    one
        Hear one vote of each task, drawn at random: errors that votes on one task share are then no
        matter.
    seed
        Draws those votes.
    """
    p = check_probs(probs)
    if p.shape != (len(votes.tasks), len(votes.classes)):
        raise ValueError(
            f"the probabilities have shape {p.shape}, expected a row for each of {len(votes.tasks)} tasks "
            f"and a column for each of {len(votes.classes)} classes"
        )
    chosen = one_vote_each(votes, seed) if one else votes
    heard = hear(chosen, np.log(np.maximum(confusion, LEAST)))
    voted = np.unique(chosen.task)
    p, heard = p[voted], heard[voted]
    now = p
    for _ in range(ROUNDS):
        fitted = map.fit(p, softmax(np.log(np.maximum(now, LEAST)) + heard, axis=1))
        last, now = now, fitted(p)
        if np.abs(now - last).max() < SETTLED:
            break
    return fitted


def one_vote_each(votes: Votes, seed: int) -> Votes:
    """One vote of each task that has any, drawn at random.

    Examples
    --------
    >>> votes = Votes.of(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
    >>> one_vote_each(votes, seed=0).task.tolist()
    [0, 1]
    """
    order = np.random.default_rng(seed).permutation(len(votes))
    _, first = np.unique(votes.task[order], return_index=True)
    return votes.take(np.sort(order[first]))
