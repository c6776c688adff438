"""Who answers without looking: labels that say nothing about the class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, softmax
from crowdpilot.diagnosis.leave_one_out import TINY, Evidence, dirichlet_multinomial

ATTENTION = np.linspace(0, 1, 11)  # share of the votes that look at the task, as a typical worker does
SPARE = 0.1  # attention up to which a worker is a spammer
EXPERTISE = np.array([0.5, 0.9, 0.99])  # share of a typical worker's mistakes that an expert avoids
PECULIAR = 0.2  # imaginary votes in each cell of a matrix that is like no other
EMPTY = 0.04  # score by Raykar and Yu below which a matrix says nothing
FEW = 0.01  # probability of the last kind below which its matrix is not looked at
DRAWS = 100
CELLS = 2**22  # numbers drawn together
ROUNDS = 50


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


def spam_probability(evidence: Evidence, seed: int = 0) -> Floats:
    """Probability that each worker is a spammer, (workers,); NaN without votes.

    Every worker is of one of several kinds, how common each is among all workers being estimated:

    - one who draws labels of their own liking, whatever the task;
    - one who looks at a share q of the tasks like a typical worker and guesses the others,
      for q from 0 to 1;
    - an expert, who avoids some of a typical worker's mistakes;
    - one whose confusion matrix is like no other.

    The first, those with q up to 0.1, and those of the last kind whose matrix has nearly equal
    rows are spammers.

    Parameters
    ----------
    evidence
        Of the votes.
    seed
        Draws the matrices of the last kind.
    """
    votes, counts, K = evidence.votes, evidence.counts, len(evidence.votes.classes)
    if K < 2:
        return np.where(evidence.worker_votes > 0, 0.0, np.nan)
    said = counts.sum(axis=1)
    habit = said.sum(axis=0) + 1
    habit /= habit.sum()
    own = dirichlet_multinomial(said, K * habit / 2)
    peculiar = dirichlet_multinomial(counts, np.full((K, K), PECULIAR)).sum(axis=1)
    spam, empty = np.zeros(len(votes.workers)), None
    for _ in range(4):  # a typical worker is no spammer: who is typical depends on who spams
        typical = np.tensordot(1 - spam, counts, 1) + np.eye(K) + 1 / K
        typical /= typical.sum(axis=1, keepdims=True)
        logs = np.stack([own, *_attentive(evidence, typical, habit), peculiar], axis=1)
        kind = _share_out(logs)
        if empty is None:
            empty = _empty(counts, kind[:, -1] > FEW, np.random.default_rng(seed))
        idle = kind[:, 1 : 1 + len(ATTENTION)] @ (ATTENTION <= SPARE)
        spam = kind[:, 0] + idle + kind[:, -1] * empty
    return np.where(evidence.worker_votes > 0, spam, np.nan)


def _attentive(evidence: Evidence, typical: Floats, habit: Floats) -> Iterator[Floats]:
    """Log-likelihood of each worker's votes, (workers,), for each attention and expertise."""
    votes = evidence.votes
    looked = np.einsum("vk,kv->v", evidence.others, typical[:, votes.label])
    guessed = habit[votes.label]
    for q in ATTENTION:
        yield votes.worker_sum(np.log(q * looked + (1 - q) * guessed))
    for h in EXPERTISE:
        yield votes.worker_sum(np.log(np.maximum((1 - h) * looked + h * evidence.right, TINY)))


def _share_out(logs: Floats) -> Floats:
    """Probability of each kind for each worker, (workers, kinds), where the shares of kinds fit best."""
    shares = np.full(logs.shape[1], 1 / logs.shape[1])
    for _ in range(ROUNDS):
        kind = softmax(logs + np.log(shares))
        shares = kind.sum(axis=0) + 0.1
        shares /= shares.sum()
    return kind


def _empty(counts: Floats, some: NDArray[np.bool_], rng: Generator) -> Floats:
    """Probability that a matrix with these counts has nearly equal rows; drawn where it may be so."""
    near = np.zeros(len(counts))
    told = counts + PECULIAR
    maybe = np.flatnonzero(some & (spam_score(told / told.sum(axis=2, keepdims=True)) < 8 * EMPTY))
    step = max(1, CELLS // (DRAWS * counts.shape[1] ** 2))
    for start in range(0, len(maybe), step):
        rows = maybe[start : start + step]
        drawn = rng.standard_gamma(np.broadcast_to(told[rows], (DRAWS, *told[rows].shape)))
        drawn /= np.maximum(drawn.sum(axis=-1, keepdims=True), TINY)
        near[rows] = (spam_score(drawn) < EMPTY).mean(axis=0)
    return near
