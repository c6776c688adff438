"""EBCC: worker correlation by hidden kinds (subtypes) of tasks in each class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Stats, Table
from crowdpilot.aggregation.em.loop import class_posterior
from crowdpilot.aggregation.em.tables import TableEM
from crowdpilot.aggregation.models.dawid_skene import mean_log, negative_divergence
from crowdpilot.aggregation.special_functions import contiguous, like
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Dirichlet counts of all parameters, and the expected logs they give."""

    prior: Floats  # (classes,)
    log_class_prior: Floats  # (classes,)
    kinds: Floats  # (classes, kinds)
    log_kinds: Floats  # (classes, kinds)
    said: Floats  # (workers, class, kind, said)
    log_said: Floats  # (workers, class, kind, said)


@dataclass(frozen=True)
class EBCC(TableEM):
    """Tasks of class *k* come in M kinds; worker *j* says *l* about kind *m* of it with `said[j, k, m, l]`.

    Given class and kind of a task workers are independent, so a kind that many workers get wrong explains
    correlated mistakes. Mean-field variational Bayes: q(k, m) is proportional to exp(E log prior[k] +
    E log kinds[k, m] + sum_j E log said[j, k, m, vote_j]).

    Parameters
    ----------
    M
        Number of kinds in each class.
    kind_prior
        Pseudo-count of tasks of each kind; small values leave unneeded kinds empty.
    smoothing, diagonal
        Pseudo-count in each cell of each confusion matrix, and a further one for the right label.
    restarts
        Number of restarts; the one with the highest objective is kept.
    seed
        Of the random split of tasks into kinds at each start.

    References
    ----------
    Li, Rubinstein and Cohn, Exploiting worker correlation for label aggregation in
    crowdsourcing, ICML 2019. https://proceedings.mlr.press/v97/li19i.html

    Examples
    --------
    Each class has the kinds of its tasks:

    >>> votes = Votes.of([1, 1, 1, 2, 2, 2, 3, 3, 3], list("xyz") * 3, list("aabbbaaab"))
    >>> EBCC(M=3).fit(votes).params["kinds"].shape
    (2, 3)
    """

    M: int = 10
    kind_prior: float = 0.1
    smoothing: float = 1.0
    diagonal: float = 3.0
    restarts: int = 1

    name: ClassVar[str] = "ebcc"
    uses_history: ClassVar[bool] = False  # kinds of other tasks are not those of these

    def cells(self, votes: Votes) -> int:
        return self.M * (super().cells(votes) + len(votes.workers) * len(votes.classes) ** 2)

    def pseudo_counts(self, votes: Votes) -> Stats:
        K, W = len(votes.classes), len(votes.workers)
        cell = self.smoothing + self.diagonal * np.eye(K)
        kinds = np.full((1, K, self.M), self.kind_prior)
        return np.ones(K), np.broadcast_to(cell[:, None, :], (W, K, self.M, K)), kinds

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        rng = np.random.default_rng(self.seed)
        for _ in range(self.restarts):
            split_tasks = rng.dirichlet(np.ones(self.M), len(probs))
            yield (probs[:, :, None] * split_tasks[:, None, :]).reshape(len(probs), -1)

    @property
    def n_restarts(self) -> int:
        return self.restarts

    def counts_from_table(self, states: Floats, table: Floats) -> Stats:
        kinds = states.reshape(1, -1, self.M)
        K = kinds.shape[1]
        said = library(table).moveaxis(table.reshape(-1, K, K, self.M), 1, 3)
        return kinds.sum(axis=(0, 2)), said, kinds

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        class_counts, said, kinds = stats
        prior = like(self.class_prior(class_counts), class_counts)
        log = library(class_counts).log
        log_class_prior = mean_log(class_counts) if self.prior == "estimated" else log(prior)
        return Params(class_counts, log_class_prior, kinds[0], mean_log(kinds[0]), said, mean_log(said))

    def table(self, params: Params) -> Table:
        log_prior = (params.log_class_prior[:, None] + params.log_kinds).ravel()
        by_label = contiguous(library(log_prior).moveaxis(params.log_said, 3, 1))
        return Table(by_label.reshape(-1, len(log_prior)), log_prior)

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        prior = 0.0
        if self.prior == "estimated":
            prior = negative_divergence(pseudo_counts[0], params.prior, params.log_class_prior)
        kinds = negative_divergence(pseudo_counts[2][0], params.kinds, params.log_kinds)
        return prior + kinds + negative_divergence(pseudo_counts[1], params.said, params.log_said)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        probs = class_posterior(votes, posterior)
        share = params.kinds / params.kinds.sum(axis=1, keepdims=True)
        said = params.said / params.said.sum(axis=3, keepdims=True)
        confusion = np.einsum("jkml,km->jkl", said, share)
        prior = self.class_prior(params.prior)
        skill = np.where(votes.worker_sum() > 0, np.einsum("jkk,k->j", confusion, prior), np.nan)
        return Aggregate(votes, probs, skill, {"prior": prior, "confusion": confusion, "kinds": share})
