"""Dawid and Skene's model: a confusion matrix for every worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Params, Stats, Table
from crowdpilot.aggregation.em.tables import TableEM
from crowdpilot.aggregation.special_functions import digamma, like, log_norm
from crowdpilot.arrays import Floats, library
from crowdpilot.confusion_matrices import by_label, by_worker
from crowdpilot.votes import Votes


class ConfusionParams(NamedTuple):
    """Parameters, their (expected) logs as the E-step uses them, and the counts they come from."""

    prior: Floats  # (classes,)
    confusion: Floats  # (workers, true, said); each row sums to one
    log_class_prior: Floats  # (classes,)
    log_confusion: Floats  # (workers, true, said)
    counts: Stats  # expected counts plus pseudo-counts


@dataclass(frozen=True)
class DawidSkene(TableEM):
    """Worker *j* says *l* about a task of class *k* with probability `confusion[j, k, l]`.

    log P(k | votes) = log prior[k] + sum_j log confusion[j, k, vote_j] + const.

    Parameters
    ----------
    smoothing
        Pseudo-count in each cell of each confusion matrix, so that no probability is zero.
    diagonal
        Further pseudo-count in each cell of the diagonal: without votes a worker is assumed to be right
        more often than not.
    class_smoothing
        Pseudo-count of tasks of each class.
    variational
        Mean-field variational Bayes, which averages over the matrices, instead of their posterior mode.

    References
    ----------
    Dawid and Skene, Applied Statistics 28(1), 1979. https://doi.org/10.2307/2346806

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> DawidSkene().fit(votes).skill.round(1).tolist()
    [0.9, 0.8, 0.6, 0.3]
    """

    smoothing: float = 0.1
    diagonal: float = 1.0
    class_smoothing: float = 1.0
    variational: bool = False

    name: ClassVar[str] = "dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("ds", "lfc")

    def cells(self, votes: Votes) -> int:
        return super().cells(votes) + len(votes.workers) * len(votes.classes) ** 2

    def pseudo_counts(self, votes: Votes) -> Stats:
        K, W = len(votes.classes), len(votes.workers)
        cell = self.smoothing + self.diagonal * np.eye(K)
        return np.full(K, self.class_smoothing), np.broadcast_to(cell, (W, K, K))

    def table(self, params: Params) -> Table:
        return Table(by_label(params.log_confusion), params.log_class_prior)

    def counts_from_table(self, states: Floats, table: Floats) -> Stats:
        return states, by_worker(table, len(states))

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        class_counts, label_counts = stats
        log = library(label_counts).log
        prior = like(self.class_prior(class_counts), class_counts)
        confusion = label_counts / label_counts.sum(axis=2, keepdims=True)
        if not self.variational:
            return ConfusionParams(prior, confusion, log(prior), log(confusion), stats)
        log_class_prior = mean_log(class_counts) if self.prior == "estimated" else log(prior)
        return ConfusionParams(prior, confusion, log_class_prior, mean_log(label_counts), stats)

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        logs = (params.log_class_prior, params.log_confusion)
        if not self.variational:
            return float(sum((p * log).sum() for p, log in zip(pseudo_counts, logs, strict=True)))
        terms = list(zip(pseudo_counts, params.counts, logs, strict=True))
        if self.prior != "estimated":
            terms = terms[1:]
        return sum(negative_divergence(p, c, log) for p, c, log in terms)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        skill = np.einsum("jkk,k->j", params.confusion, params.prior)
        estimates = {"prior": params.prior, "confusion": params.confusion}
        return Aggregate(votes, posterior, np.where(votes.worker_sum() > 0, skill, np.nan), estimates)


def mean_log(counts: Floats) -> Floats:
    """Expected log-probabilities under a Dirichlet distribution with these counts."""
    logs: Floats = digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True))
    return logs


def negative_divergence(pseudo_counts: Floats, counts: Floats, logs: Floats) -> float:
    """Minus the Kullback-Leibler divergence of Dirichlet(counts) from Dirichlet(pseudo_counts), all rows."""
    gap = log_norm(counts) - log_norm(pseudo_counts) - ((counts - pseudo_counts) * logs).sum(axis=-1)
    return float(gap.sum())
