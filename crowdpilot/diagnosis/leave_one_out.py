"""What the votes of the others say about each vote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from crowdpilot.aggregation import Aggregate, DawidSkene
from crowdpilot.aggregation.models.dawid_skene import log_norm
from crowdpilot.arrays import Floats, divide, has_repeats, softmax
from crowdpilot.votes import Votes

STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # votes that the usual matrix may count for
TYPICAL = 5.0  # imaginary votes with the mistakes of the crowd, for each worker


@dataclass(frozen=True, eq=False)
class Evidence:
    """Votes beside what is believed of their tasks without them.

    A worker judged by a consensus that holds their own votes looks better than they are, so every
    vote is compared with P(class | the other votes of the task), which one step of Dawid and
    Skene's model gives from any result. Largest array: (votes, classes).

    Parameters
    ----------
    votes
        As they came, with their times.
    prior
        (classes,); share of each class.
    crowd
        (true, said); the confusion matrix of all workers together.
    confusion
        (workers, true, said); of each worker, drawn as far as few votes ask towards the crowd's with
        as many mistakes as the worker makes.
    others
        (votes, classes); probabilities of the class of the task by the votes of all other workers.
    """

    votes: Votes
    prior: Floats
    crowd: Floats
    confusion: Floats
    others: Floats

    @cached_property
    def right(self) -> Floats:
        """(votes,); how probable the label of a vote is by the other votes of its task."""
        right: Floats = self.others[np.arange(len(self.votes)), self.votes.label]
        return right

    @cached_property
    def counts(self) -> Floats:
        """(workers, true, said); votes by what the others say the class is."""
        sums = [self.votes.cell_sum(belief) for belief in self.others.T]
        return np.stack(sums, axis=1)

    @cached_property
    def worker_votes(self) -> NDArray[np.int64]:
        """(workers,); how many votes each gave."""
        return np.bincount(self.votes.worker, minlength=len(self.votes.workers))

    def by_worker(self, value: Floats) -> Floats:
        """Mean over the votes of each worker; NaN for a worker without votes."""
        return divide(np.bincount(self.votes.worker, value, len(self.votes.workers)), self.worker_votes)


TINY = float(np.finfo(float).tiny)  # a probability that is zero only by rounding


def weigh(result: Aggregate) -> Evidence:
    """The evidence on every vote that an aggregator's result gives."""
    votes, K = result.votes, len(result.votes.classes)
    _, counts = DawidSkene().count(votes, result.probs)
    crowd, confusion = estimate(counts)
    prior = result.probs.sum(axis=0) + 1
    prior /= prior.sum()
    said = np.ascontiguousarray(np.log(confusion).swapaxes(1, 2)).reshape(-1, K)  # (workers x said, true)
    joint = votes.onehot @ said + np.log(prior)
    others = softmax(joint[votes.task] - _with_repeats(votes, votes.weights[:, None] * said[votes.cell]))
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold[votes.task] >= 0)
        others[known] = np.eye(K)[votes.gold[votes.task[known]]]
    return Evidence(votes, prior, crowd, confusion, others)


def estimate(counts: Floats) -> tuple[Floats, Floats]:
    """Confusion matrices of the crowd and of each worker, from how often they gave labels to classes.

    See `Evidence`; both they and the counts are (true, said), or (workers, true, said).
    """
    K = counts.shape[1]
    crowd = counts.sum(axis=0) + np.eye(K) + 1 / K
    crowd /= crowd.sum(axis=1, keepdims=True)
    usual = _usual(counts, crowd)
    confusion = counts + strength(counts, usual) * usual
    confusion /= confusion.sum(axis=2, keepdims=True)
    return crowd, confusion


def _usual(counts: Floats, crowd: Floats) -> Floats:
    """The crowd's matrix with the odds of a mistake that each worker has, (workers, true, said)."""
    seen, hits = counts.sum(axis=2), np.einsum("jkk->j", counts)
    share = (seen @ np.diag(crowd) + TYPICAL * np.diag(crowd).mean()) / (seen.sum(axis=1) + TYPICAL)
    odds = (seen.sum(axis=1) - hits + TYPICAL * (1 - share)) / (hits + TYPICAL * share)
    ratio = odds * share / np.maximum(1 - share, TINY)  # over those of the crowd on the same tasks
    usual = crowd * np.where(np.eye(len(crowd), dtype=bool), 1.0, ratio[:, None, None])
    usual /= usual.sum(axis=2, keepdims=True)
    return usual


def _with_repeats(votes: Votes, value: Floats) -> Floats:
    """Sum over all votes of the worker on the task, for each vote, (votes, classes)."""
    pair = votes.task.astype(np.int64) * len(votes.workers) + votes.worker
    if not has_repeats(pair):
        return value
    _, which = np.unique(pair, return_inverse=True)
    total = np.asarray(coo_array((np.ones(len(which)), (which, np.arange(len(which))))).tocsr() @ value)
    return total[which]


def strength(counts: Floats, usual: Floats) -> float:
    """How many votes the usual matrix counts for in each row: what makes all counts most likely."""
    return max(STRENGTHS, key=lambda s: float(dirichlet_multinomial(counts, s * usual).sum()))


def dirichlet_multinomial(counts: Floats, prior: Floats) -> Floats:
    """Log-probability of counts in a given order, whose law has a Dirichlet prior; over the last axis."""
    return log_norm(counts + prior) - log_norm(prior)
