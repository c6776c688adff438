"""Scores of the panels of `auto`: log-likelihood of held-out votes, and correlation of their errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, pair, to_probs
from crowdpilot.votes import Votes

MIN_PROBABILITY = 1e-6  # no model may rule a class out for the others of its panel


class PanelScore(NamedTuple):
    """Held-out scores of a panel."""

    score: float  # mean log-likelihood of a held-out vote, of the panel as a whole
    correlation: float  # between the errors of held-out votes on one task
    of_models: list[float]  # the score of each model


def held_out_log_likelihood(votes: Votes, posterior: Floats) -> float:
    """Mean log-likelihood of votes under one confusion matrix for all workers, fitted to them by EM.

    `posterior` has a row for each vote: the class probabilities of its task, (votes, classes).
    """
    K = len(votes.classes)
    weights = votes.weights / max(votes.weights.sum(), 1e-300)
    confusion = np.full((K, K), 0.3 / (K - 1)) + (0.7 - 0.3 / (K - 1)) * np.eye(K)
    posterior = np.maximum(posterior, MIN_PROBABILITY)
    log_likelihood = 0.0
    for _ in range(30):
        joint = posterior * confusion[:, votes.label].T
        likelihood = joint.sum(axis=1)
        log_likelihood = float(weights @ np.log(likelihood))
        joint *= (votes.weights / likelihood)[:, None]
        counts = np.stack([np.bincount(votes.label, column, K) for column in joint.T]) + 1
        confusion = counts / counts.sum(axis=1, keepdims=True)
    return log_likelihood


def believable_gain(coin: PanelScore, confusion: PanelScore) -> float:
    """How much better confusion matrices predict votes, in nats for each; what is doubtful counts against.

    Matrices that describe the workers better leave less correlation between the errors on a task. Where
    they predict votes better and the correlation does not fall as much, they have learned errors that the
    workers share, such as those of one language model with many prompts, and their classes are not the
    true ones.
    """
    gain = confusion.score - coin.score
    if np.isnan(coin.correlation):
        return gain
    fall = max(0.0, coin.correlation - confusion.correlation)
    return gain - 2 * max(0.0, gain - fall)


def error_correlation(votes: Votes, posterior: Floats, fold: NDArray[np.int_]) -> float:
    """Correlation between the errors of two held-out votes on one task; NaN if there are too few votes.

    The error of a vote is its label, as a vector with a one, minus the probabilities of all labels by
    the posterior and one confusion matrix for all workers. `posterior` has a row for each vote, and
    `fold` says which votes were held out together.
    """
    if len(votes) == 0:
        return 0.0
    K = len(votes.classes)
    confusion = to_probs(np.stack([np.bincount(votes.label, column, K) for column in posterior.T]) + 1)
    errors = np.eye(K)[votes.label] - posterior @ confusion
    _, group = np.unique(
        pair(fold.astype(np.int32), votes.task, (int(fold.max()) + 1, len(votes.tasks))), return_inverse=True
    )
    n = np.bincount(group)
    pairs = float((n * (n - 1)).sum())
    squares = (errors**2).sum(axis=1)
    if pairs == 0 or not squares.any():
        return np.nan
    sums = np.stack([np.bincount(group, column) for column in errors.T])
    products = float((sums**2).sum() - squares.sum())  # over pairs of different votes
    return float(np.clip(products / (pairs * squares.mean()), -1, 1))
