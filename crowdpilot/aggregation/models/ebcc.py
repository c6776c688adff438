"""Workers who err together: classes have hidden kinds of task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Stats, Table
from crowdpilot.aggregation.em.loop import class_posterior
from crowdpilot.aggregation.em.tables import TableEM
from crowdpilot.aggregation.models.dawid_skene import mean_log, minus_divergence
from crowdpilot.aggregation.special_functions import contiguous, like
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Dirichlet counts of everything unknown and the expected logs they give."""

    prior: Floats  # (classes,)
    log_class_prior: Floats
    kinds: Floats  # (classes, kinds)
    log_kinds: Floats
    said: Floats  # (workers, class, kind, said)
    log_said: Floats


@dataclass(frozen=True)
class EBCC(TableEM):
    """Tasks of class *k* come in M kinds; worker *j* says *l* about kind *m* of it with `said[j, k, m, l]`.

    Given the kind of a task workers are independent, so a kind that many get wrong explains
    mistakes they make together. Mean-field Bayes: q(k, m) is proportional to exp(E log prior[k] +
    E log kinds[k, m] + sum_j E log said[j, k, m, vote_j]).

    Parameters
    ----------
    M
        How many kinds of task in each class.
    kind_prior
        Imaginary tasks of each kind; small values leave unneeded kinds empty.
    smoothing, diagonal
        Imaginary votes in each cell of each matrix, and further ones for the right label.
    tries
        Beginnings to climb from; the best end is kept.
    seed
        Of the split of tasks into kinds at the beginning.

    References
    ----------
    Li, Rubinstein and Cohn, Exploiting worker correlation for label aggregation in
    crowdsourcing, ICML 2019. https://proceedings.mlr.press/v97/li19i.html

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> EBCC().fit(votes).skill.round(1).tolist()
    [0.9, 0.8, 0.6, 0.3]
    """

    M: int = 10
    kind_prior: float = 0.1
    smoothing: float = 1.0
    diagonal: float = 3.0
    tries: int = 1
    seed: int = 0

    name: ClassVar[str] = "ebcc"
    uses_history: ClassVar[bool] = False  # the kinds of other tasks are not the kinds of these

    def cells(self, votes: Votes) -> int:
        return self.M * (super().cells(votes) + len(votes.workers) * len(votes.classes) ** 2)

    def pseudo_counts(self, votes: Votes) -> Stats:
        K, W = len(votes.classes), len(votes.workers)
        cell = self.smoothing + self.diagonal * np.eye(K)
        kinds = np.full((1, K, self.M), self.kind_prior)
        return np.ones(K), np.broadcast_to(cell[:, None, :], (W, K, self.M, K)), kinds

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        rng = np.random.default_rng(self.seed)
        for _ in range(self.tries):
            split_tasks = rng.dirichlet(np.ones(self.M), len(probs))
            yield (probs[:, :, None] * split_tasks[:, None, :]).reshape(len(probs), -1)

    @property
    def n_restarts(self) -> int:
        return self.tries

    def counts_from_table(self, seen: Floats, said: Floats) -> Stats:
        kinds = seen.reshape(1, -1, self.M)
        K = kinds.shape[1]
        return kinds.sum(axis=(0, 2)), library(said).moveaxis(said.reshape(-1, K, K, self.M), 1, 3), kinds

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        seen, said, kinds = stats
        prior = like(self.class_prior(seen), seen)
        log_class_prior = mean_log(seen) if self.prior == "estimated" else library(seen).log(prior)
        return Params(seen, log_class_prior, kinds[0], mean_log(kinds[0]), said, mean_log(said))

    def table(self, params: Params) -> Table:
        start = (params.log_class_prior[:, None] + params.log_kinds).ravel()
        said = contiguous(library(start).moveaxis(params.log_said, 3, 1)).reshape(-1, len(start))
        return Table(said, start)

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        prior = 0.0
        if self.prior == "estimated":
            prior = minus_divergence(pseudo_counts[0], params.prior, params.log_class_prior)
        kinds = minus_divergence(pseudo_counts[2][0], params.kinds, params.log_kinds)
        return prior + kinds + minus_divergence(pseudo_counts[1], params.said, params.log_said)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        probs = class_posterior(votes, posterior)
        share = params.kinds / params.kinds.sum(axis=1, keepdims=True)
        said = params.said / params.said.sum(axis=3, keepdims=True)
        confusion = np.einsum("jkml,km->jkl", said, share)
        prior = self.class_prior(params.prior)
        skill = np.where(votes.worker_sum() > 0, np.einsum("jkk,k->j", confusion, prior), np.nan)
        return Aggregate(votes, probs, skill, {"prior": prior, "confusion": confusion, "kinds": share})
