"""Leave-one-out posteriors: P(class of a task | the votes of all other workers) for each vote."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from crowdpilot.aggregation import Aggregate
from crowdpilot.aggregation.honest import without_honesty
from crowdpilot.aggregation.workers.confusion import estimate_confusion
from crowdpilot.arrays import Floats, divide, has_repeats, softmax
from crowdpilot.confusion_matrices import by_label, count_labels
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Votes, confusion matrices, and the posterior of the task of each vote without its worker.

    A worker compared with a consensus that includes their own votes looks better than they are, so
    each vote is compared with P(class | the votes of the others on the task), by one E-step of
    Dawid and Skene's model. Largest array: (votes, classes).

    Parameters
    ----------
    votes
        As they came, with their times.
    prior
        (classes,); share of each class.
    crowd_confusion
        (true, said); the confusion matrix of all workers together.
    confusion
        (workers, true, said); of each worker, shrunk towards the crowd's matrix with the worker's
        own error rate.
    posterior
        (votes, classes); probability of each class of the task, given the votes of all other workers.
    """

    votes: Votes
    prior: Floats
    crowd_confusion: Floats
    confusion: Floats
    posterior: Floats

    @cached_property
    def p_correct(self) -> Floats:
        """(votes,); leave-one-out posterior probability of the label of each vote."""
        p_correct: Floats = self.posterior[np.arange(len(self.votes)), self.votes.label]
        return p_correct

    @cached_property
    def counts(self) -> Floats:
        """(workers, true, said); expected number of votes, by the leave-one-out posteriors."""
        return np.stack([self.votes.cell_sum(p_class) for p_class in self.posterior.T], axis=1)

    @cached_property
    def worker_votes(self) -> NDArray[np.int64]:
        """(workers,); number of votes."""
        return np.bincount(self.votes.worker, minlength=len(self.votes.workers))

    def worker_mean(self, value: Floats) -> Floats:
        """Mean of a value (votes,) over the votes of each worker, (workers,); NaN without votes."""
        return divide(np.bincount(self.votes.worker, value, len(self.votes.workers)), self.worker_votes)


def leave_one_out_posteriors(result: Aggregate) -> LeaveOneOut:
    """The leave-one-out posterior of every vote, from the posterior of the tasks by any aggregator.

    It is a likelihood, by which workers are compared with each other, so it starts at the posterior of the
    model, not at the honest one, and at one iteration of EM from there: shares of votes, or doubt about the
    crowd as a whole, would make all workers alike, and more of their flags wrong.
    """
    votes, K = result.votes, len(result.votes.classes)
    probs = without_honesty(result).probs
    _, confusion = estimate_confusion(count_labels(votes, probs))
    probs = votes.clamp(softmax(_log_joint(votes, confusion, _class_prior(probs))))
    crowd_confusion, confusion = estimate_confusion(count_labels(votes, probs))
    prior = _class_prior(probs)
    log_likelihood = by_label(np.log(confusion))  # (workers x said, true)
    own = _sum_repeats(votes, votes.weights[:, None] * log_likelihood[votes.cell])
    posterior = softmax(_log_joint(votes, confusion, prior)[votes.task] - own)
    if votes.gold is not None:
        known = np.flatnonzero(votes.gold[votes.task] >= 0)
        posterior[known] = np.eye(K)[votes.gold[votes.task[known]]]
    return LeaveOneOut(votes, prior, crowd_confusion, confusion, posterior)


def _class_prior(probs: Floats) -> Floats:
    """Share of each class by the posterior of the tasks, (classes,)."""
    prior: Floats = probs.sum(axis=0) + 1
    prior /= prior.sum()
    return prior


def _log_joint(votes: Votes, confusion: Floats, prior: Floats) -> Floats:
    """Log P(class and votes) of each task, (tasks, classes)."""
    log_joint: Floats = votes.onehot @ by_label(np.log(confusion)) + np.log(prior)
    return log_joint


def _sum_repeats(votes: Votes, value: Floats) -> Floats:
    """Sum of a value (votes, classes) over all votes of the same worker on the same task, for each vote."""
    pair = votes.task.astype(np.int64) * len(votes.workers) + votes.worker
    if not has_repeats(pair):
        return value
    _, which = np.unique(pair, return_inverse=True)
    total = np.asarray(coo_array((np.ones(len(which)), (which, np.arange(len(which))))).tocsr() @ value)
    return total[which]
