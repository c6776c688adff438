"""Worker model: confusion matrices of workers by EM, with Dirichlet pseudo-counts for each kind of worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import Codes, Floats, softmax, to_probs
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.votes import Votes


class WorkerModel(NamedTuple):
    """Fitted confusion matrices, and the posterior of the items with votes."""

    confusion: Floats  # (workers, true, said)
    kind_confusion: Floats  # of a new worker of each kind, (kinds, true, said)
    counts: Floats  # expected counts without pseudo-counts, (workers, true, said)
    posterior: Floats  # (tasks, classes)


@dataclass(frozen=True)
class DawidSkeneWithPriors(DawidSkene):
    """Dawid and Skene's model with a class prior for each task and pseudo-counts for each worker.

    Parameters
    ----------
    task_log_prior
        Log-probability of each class before any vote, (tasks, classes).
    worker_counts
        Pseudo-counts of each worker, (workers, true, said).
    class_counts
        Pseudo-counts of the classes, (classes,).
    """

    task_log_prior: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False)
    worker_counts: Floats = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    class_counts: Floats = field(default_factory=lambda: np.zeros(1), repr=False, compare=False)

    name: ClassVar[str] = "dawid_skene_with_priors"
    additive_counts: ClassVar[bool] = False  # the priors of tasks would have to be divided too

    def pseudo_counts(self, votes: Votes) -> Stats:
        return np.full(len(votes.classes), self.class_smoothing) + self.class_counts, self.worker_counts

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        log_likelihood = votes_log_likelihood(votes, np.log(to_probs(self.worker_counts)))
        yield votes.clamp(softmax(self.task_log_prior + log_likelihood))

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        joint = votes_log_likelihood(votes, params.log_confusion) + self.task_log_prior
        return joint + params.log_class_prior if self.prior == "estimated" else joint

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        return float((pseudo_counts[1] * params.log_confusion).sum())


def fit_worker_model(
    votes: Votes,
    task_log_prior: Floats,
    kind_pseudo_counts: Floats,
    *,
    kind: Codes | None = None,
    estimate_prior: bool = False,
    worker_pseudo_counts: float = 12.0,
    earlier: Stats | None = None,
) -> WorkerModel:
    """Confusion matrices of all workers by EM.

    Each row of a worker's matrix has a Dirichlet prior of `worker_pseudo_counts`, divided as the prior of
    the kind says. They are many, and not estimated: while most items have one vote, accuracies and class
    shares can explain the votes equally well, and only the prior tells them apart. The matrix of a new
    worker of a kind is estimated from all votes of the kind on top of `kind_pseudo_counts`.

    Parameters
    ----------
    votes
        The classes of tasks in `votes.gold` are taken as known.
    task_log_prior
        Log-probability of each class before any vote, (tasks, classes).
    kind_pseudo_counts
        Of each kind of worker, (kinds, true, said).
    kind
        Of each worker; all are of the first if not given.
    estimate_prior
        Whether the class prior is estimated too, instead of being part of `task_log_prior`.
    worker_pseudo_counts
        Of each worker for each true class.
    earlier
        Expected counts of earlier votes: classes of their tasks, (classes,), and (workers, true, said).
    """
    kinds = np.zeros(len(votes.workers), np.int32) if kind is None else kind
    class_counts, earlier_counts = (np.zeros(1), np.zeros((1, 1, 1))) if earlier is None else earlier
    kind_counts = with_label_shares(kind_pseudo_counts, votes, earlier_counts)
    worker_counts = worker_pseudo_counts * to_probs(kind_counts)[kinds]
    counts, posterior = earlier_counts + np.zeros_like(worker_counts), softmax(task_log_prior)
    model = DawidSkeneWithPriors(
        prior="estimated" if estimate_prior else "uniform",
        task_log_prior=task_log_prior,
        worker_counts=worker_counts + earlier_counts,
        class_counts=class_counts,
        tol=1e-5,
        max_iter=100,
    )
    if len(votes):
        fitted = model.fit(votes)
        counts, posterior = counts + fitted.params["stats"][1], fitted.probs
    kind_confusion = kind_counts.astype(np.float64)
    np.add.at(kind_confusion, kinds, counts)
    kind_confusion = to_probs(kind_confusion)
    new = counts.sum(axis=(1, 2), keepdims=True) == 0
    confusion = np.where(new, kind_confusion[kinds], to_probs(counts + worker_counts))
    return WorkerModel(confusion, kind_confusion, counts, posterior)


def with_label_shares(kind_pseudo_counts: Floats, votes: Votes, earlier_counts: Floats) -> Floats:
    """The same pseudo-counts (kinds, true, said), with errors in the overall shares of labels.

    A worker who knows the answer with probability s and guesses otherwise gives label *l* to an item of
    class *k* with probability s [k = l] + (1 - s) share[l]. Then the class shares are those of the labels
    until items with several votes tell otherwise: a rare label is not taken for a common error.
    """
    K = kind_pseudo_counts.shape[1]
    labels = np.bincount(votes.label, minlength=K) + np.sum(earlier_counts, axis=(0, 1)) + 1.0
    total = kind_pseudo_counts[:, 0].sum(axis=1)[:, None, None]
    knows = (kind_pseudo_counts[:, :1, :1] - kind_pseudo_counts[:, :1, 1:2]) / total
    counts: Floats = total * (knows * np.eye(K) + (1 - knows) * labels / labels.sum())
    return counts
