"""Spammers: workers whose labels do not depend on the class; scores and the posterior probability."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.aggregation.workers.confusion import MIN_PROBABILITY, log_dirichlet_multinomial
from crowdpilot.arrays import Floats, softmax
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut

ATTENTION_LEVELS = np.linspace(0, 1, 11)  # share of votes as of a typical worker; the rest are guesses
MAX_SPAMMER_ATTENTION = 0.1  # attention up to which a worker is a spammer
EXPERT_AVOIDED_ERRORS = np.array([0.5, 0.9, 0.99])  # share of a typical worker's errors that an expert avoids
CELL_PSEUDO_COUNT = 0.2  # in each cell of a confusion matrix of its own
MAX_SPAMMER_SCORE = 0.04  # score by Raykar and Yu below which a matrix has nearly equal rows
MIN_KIND_PROBABILITY = 0.01  # of the last kind, below which its matrix is not drawn
POSTERIOR_DRAWS = 100  # of each matrix
MAX_CELLS_PER_BLOCK = 2**22  # numbers drawn together
EM_ITERATIONS = 50


def spam_distance(confusion: Floats) -> Floats:
    """Squared Frobenius distance of each matrix from the nearest one with equal rows, (workers,).

    The labels of a spammer do not depend on the class: all rows are the same. The nearest such
    matrix has the mean of the rows in every row.

    Examples
    --------
    >>> spam_distance(np.array([[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0, 1]]])).tolist()
    [0.0, 1.0]
    """
    distance: Floats = ((confusion - confusion.mean(axis=-2, keepdims=True)) ** 2).sum(axis=(-2, -1))
    return distance


def spam_score(confusion: Floats) -> Floats:
    """Raykar and Yu's score, (workers,): 0 for a spammer, 1 for a worker who is always right.

    sum over pairs of classes c < d of |row c - row d|^2 / (K (K - 1)), which is the squared
    distance from the nearest matrix with equal rows, divided by K - 1.

    References
    ----------
    Raykar and Yu, Ranking annotators for crowdsourced labeling tasks, NIPS 2011.
    """
    score: Floats = spam_distance(confusion) / max(confusion.shape[-1] - 1, 1)
    return score


def spam_probability(loo: LeaveOneOut, seed: int = 0) -> Floats:
    """Posterior probability that each worker is a spammer, (workers,); NaN without votes.

    A mixture model: every worker is of one of several kinds, whose shares are estimated by EM:

    - one who draws labels from a distribution of their own, whatever the task;
    - one who answers a share q of the tasks like a typical worker and guesses the others,
      for q from 0 to 1;
    - an expert, who avoids some of a typical worker's errors;
    - one with a confusion matrix of their own.

    The first, those with q up to 0.1, and those of the last kind whose matrix has nearly equal
    rows are spammers.

    Parameters
    ----------
    loo
        Leave-one-out posteriors of the votes.
    seed
        Of the draws from the posterior of the matrices of the last kind.
    """
    votes, counts, K = loo.votes, loo.counts, len(loo.votes.classes)
    if K < 2:
        return np.where(loo.worker_votes > 0, 0.0, np.nan)
    label_counts = counts.sum(axis=1)
    label_shares = label_counts.sum(axis=0) + 1
    label_shares /= label_shares.sum()
    own_labels = log_dirichlet_multinomial(label_counts, K * label_shares / 2)
    own_matrix = log_dirichlet_multinomial(counts, np.full((K, K), CELL_PSEUDO_COUNT)).sum(axis=1)
    spam, equal_rows = np.zeros(len(votes.workers)), None
    for _ in range(4):  # the typical worker is estimated without the spammers
        typical = np.tensordot(1 - spam, counts, 1) + np.eye(K) + 1 / K
        typical /= typical.sum(axis=1, keepdims=True)
        attentive = _log_likelihoods(loo, typical, label_shares)
        kind = _fit_mixture(np.stack([own_labels, *attentive, own_matrix], axis=1))
        if equal_rows is None:
            rng = np.random.default_rng(seed)
            equal_rows = _p_equal_rows(counts, kind[:, -1] > MIN_KIND_PROBABILITY, rng)
        inattentive = kind[:, 1 : 1 + len(ATTENTION_LEVELS)] @ (ATTENTION_LEVELS <= MAX_SPAMMER_ATTENTION)
        spam = kind[:, 0] + inattentive + kind[:, -1] * equal_rows
    return np.where(loo.worker_votes > 0, spam, np.nan)


def _log_likelihoods(loo: LeaveOneOut, typical: Floats, label_shares: Floats) -> Iterator[Floats]:
    """Log-likelihood of each worker's votes, (workers,), for each level of attention, then of expertise."""
    votes = loo.votes
    p_typical = np.einsum("vk,kv->v", loo.posterior, typical[:, votes.label])
    p_guess = label_shares[votes.label]
    for q in ATTENTION_LEVELS:
        yield votes.worker_sum(np.log(q * p_typical + (1 - q) * p_guess))
    for h in EXPERT_AVOIDED_ERRORS:
        p_expert = (1 - h) * p_typical + h * loo.p_correct
        yield votes.worker_sum(np.log(np.maximum(p_expert, MIN_PROBABILITY)))


def _fit_mixture(log_likelihood: Floats) -> Floats:
    """Posterior of the kind of each worker, (workers, kinds), with the shares of the kinds fitted by EM."""
    shares = np.full(log_likelihood.shape[1], 1 / log_likelihood.shape[1])
    for _ in range(EM_ITERATIONS):
        kind = softmax(log_likelihood + np.log(shares))
        shares = kind.sum(axis=0) + 0.1
        shares /= shares.sum()
    return kind


def _p_equal_rows(counts: Floats, possible: NDArray[np.bool_], rng: Generator) -> Floats:
    """Posterior probability that a matrix with these counts has nearly equal rows, (workers,), by draws."""
    p_equal = np.zeros(len(counts))
    posterior_counts = counts + CELL_PSEUDO_COUNT
    mean = posterior_counts / posterior_counts.sum(axis=2, keepdims=True)
    workers = np.flatnonzero(possible & (spam_score(mean) < 8 * MAX_SPAMMER_SCORE))
    step = max(1, MAX_CELLS_PER_BLOCK // (POSTERIOR_DRAWS * counts.shape[1] ** 2))
    for start in range(0, len(workers), step):
        block = workers[start : start + step]
        shape = POSTERIOR_DRAWS, *posterior_counts[block].shape
        matrices = rng.standard_gamma(np.broadcast_to(posterior_counts[block], shape))
        matrices /= np.maximum(matrices.sum(axis=-1, keepdims=True), MIN_PROBABILITY)
        p_equal[block] = (spam_score(matrices) < MAX_SPAMMER_SCORE).mean(axis=0)
    return p_equal
