"""Confusion matrices of workers from expected counts, shrunk towards that of the crowd by empirical Bayes."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.special_functions import log_norm
from crowdpilot.arrays import Floats

PRIOR_STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # pseudo-votes per row, tried in turn
ACCURACY_PSEUDO_VOTES = 5.0  # of each worker, with the error rate of the crowd
MIN_PROBABILITY = float(np.finfo(float).tiny)  # a probability that is zero only by rounding


def estimate_confusion(counts: Floats) -> tuple[Floats, Floats]:
    """Confusion matrices of the crowd, (true, said), and of each worker, (workers, true, said).

    The rows of a worker's matrix have a Dirichlet prior whose mean is the crowd's matrix with the
    error rate of the worker; its strength maximizes the marginal likelihood (empirical Bayes).

    Parameters
    ----------
    counts
        (workers, true, said); expected number of votes.
    """
    K = counts.shape[1]
    crowd_confusion = counts.sum(axis=0) + np.eye(K) + 1 / K
    crowd_confusion /= crowd_confusion.sum(axis=1, keepdims=True)
    prior_mean = _prior_mean(counts, crowd_confusion)
    confusion = counts + prior_strength(counts, prior_mean) * prior_mean
    confusion /= confusion.sum(axis=2, keepdims=True)
    return crowd_confusion, confusion


def _prior_mean(counts: Floats, crowd_confusion: Floats) -> Floats:
    """The crowd's matrix with the odds of an error that each worker has, (workers, true, said)."""
    seen, hits, hit_rate = counts.sum(axis=2), np.einsum("jkk->j", counts), np.diag(crowd_confusion)
    n = ACCURACY_PSEUDO_VOTES
    expected = (seen @ hit_rate + n * hit_rate.mean()) / (seen.sum(axis=1) + n)  # of the crowd on these tasks
    odds = (seen.sum(axis=1) - hits + n * (1 - expected)) / (hits + n * expected)
    ratio = odds * expected / np.maximum(1 - expected, MIN_PROBABILITY)
    off_diagonal = ~np.eye(len(crowd_confusion), dtype=bool)
    mean = crowd_confusion * np.where(off_diagonal, ratio[:, None, None], 1.0)
    mean /= mean.sum(axis=2, keepdims=True)
    return mean


def prior_strength(counts: Floats, prior_mean: Floats) -> float:
    """Pseudo-votes in each row of a worker's matrix that maximize the marginal likelihood of the counts."""
    return max(PRIOR_STRENGTHS, key=lambda s: float(log_dirichlet_multinomial(counts, s * prior_mean).sum()))


def log_dirichlet_multinomial(counts: Floats, pseudo_counts: Floats) -> Floats:
    """Log-probability of a sequence with these counts under a Dirichlet prior, over the last axis."""
    return log_norm(counts + pseudo_counts) - log_norm(pseudo_counts)
