"""What the votes of the others say about each vote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from crowdpilot.aggregate import Aggregate
from crowdpilot.arrays import Codes, Floats, softmax
from crowdpilot.votes import Votes

STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # votes that the crowd's matrix may count for


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
        (workers, true, said); of each worker, drawn towards the crowd's as far as few votes ask.
    others
        (votes, classes); probabilities of the class of the task by all votes but this one.
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
        total = np.bincount(self.votes.worker, value, len(self.votes.workers))
        return np.where(self.worker_votes > 0, total / np.maximum(self.worker_votes, 1), np.nan)

    def without(self, label: Codes) -> Floats:
        """Like `others`, without a further vote of this label by a typical worker, (votes, classes)."""
        return softmax(np.log(np.maximum(self.others, TINY)) - np.log(self.crowd[:, label].T))


TINY = float(np.finfo(float).tiny)  # a probability that is zero only by rounding


def weigh(result: Aggregate) -> Evidence:
    """The evidence on every vote that an aggregator's result gives."""
    votes, K = result.votes, len(result.votes.classes)
    counts = (votes.onehot.T @ result.probs).reshape(-1, K, K).swapaxes(1, 2)
    crowd = counts.sum(axis=0) + np.eye(K) + 1 / K
    crowd /= crowd.sum(axis=1, keepdims=True)
    confusion = counts + strength(counts, crowd) * crowd
    confusion /= confusion.sum(axis=2, keepdims=True)
    prior = result.probs.sum(axis=0) + 1
    prior /= prior.sum()
    said = np.ascontiguousarray(np.log(confusion).swapaxes(1, 2)).reshape(-1, K)  # (workers x said, true)
    joint = votes.onehot @ said + np.log(prior)
    others = softmax(joint[votes.task] - votes.weights[:, None] * said[votes.cell])
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold[votes.task] >= 0)
        others[known] = np.eye(K)[votes.gold[votes.task[known]]]
    return Evidence(votes, prior, crowd, confusion, others)


def strength(counts: Floats, crowd: Floats) -> float:
    """How many votes the crowd's matrix counts for in each row: what makes all counts most likely."""
    return max(STRENGTHS, key=lambda s: float(dirichlet_multinomial(counts, s * crowd).sum()))


def dirichlet_multinomial(counts: Floats, prior: Floats) -> Floats:
    """Log-probability of counts in a given order, whose law has a Dirichlet prior; over the last axis."""
    total: Floats = (gammaln(counts + prior) - gammaln(prior)).sum(axis=-1)
    total += gammaln(prior.sum(axis=-1)) - gammaln(counts.sum(axis=-1) + prior.sum(axis=-1))
    return total
