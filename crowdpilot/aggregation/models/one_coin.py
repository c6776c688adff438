"""One-coin model: one skill for each worker, all mistakes equally likely."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Backend, Stats
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.sparse.candidates import needs_sparse
from crowdpilot.aggregation.sparse.em import CandidateBackend, CoinParams, SparseOneCoin
from crowdpilot.aggregation.special_functions import like
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class OneCoin(EM):
    """Worker *j* is right with probability `skill[j]`; every mistake is equally likely.

    log P(k | votes) = log prior[k] + sum_j [vote_j = k] log((K - 1) skill[j] / (1 - skill[j])) + const.

    Needs few votes for each worker, and O(votes) time and memory for any number of classes. The class
    prior is uniform by default: if it is estimated along with one skill for each worker, one class can
    absorb the others.

    Parameters
    ----------
    smoothing
        Pseudo-counts of right and of wrong votes of each worker.
    trust
        Further pseudo-counts of right votes.

    References
    ----------
    Zhang, Chen, Zhou and Jordan, Spectral methods meet EM, JMLR 17, 2016. https://arxiv.org/abs/1406.3824

    Examples
    --------
    The second task goes to the worker who agrees with the others on the first:

    >>> votes = Votes.of([1, 1, 1, 2, 2], list("xyzxz"), list("aabab"))
    >>> OneCoin().fit(votes).probs.round(2).tolist()
    [[1.0, 0.0], [0.98, 0.02]]
    """

    prior: Prior = "uniform"
    smoothing: float = 0.1
    trust: float = 1.0

    name: ClassVar[str] = "one_coin"
    aliases: ClassVar[tuple[str, ...]] = ("onecoin", "one_coin_dawid_skene")
    supports_sparse: ClassVar[bool] = True

    def run_on(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        if not needs_sparse(votes):
            return super().run_on(backend, votes, start, history)
        if backend is not None:
            raise ValueError(f"{self.name} of so many classes runs in memory only, so leave out `backend`")
        return self.run(votes, None, history, CandidateBackend(start))

    def _sparse(self) -> SparseOneCoin:
        """The same model with a posterior over the candidates of each task."""
        settings: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(SparseOneCoin)}
        return SparseOneCoin(**settings)

    def initial_posterior(self, votes: Votes) -> Floats:
        return (
            self._sparse().initial_posterior(votes)
            if needs_sparse(votes)
            else super().initial_posterior(votes)
        )

    def e_step(self, votes: Votes, params: CoinParams) -> tuple[Stats, float]:
        return self._sparse().e_step(votes, params) if needs_sparse(votes) else super().e_step(votes, params)

    def posterior(self, votes: Votes, params: CoinParams) -> Floats:
        return (
            self._sparse().posterior(votes, params)
            if needs_sparse(votes)
            else super().posterior(votes, params)
        )

    def pseudo_counts(self, votes: Votes) -> Stats:
        W = len(votes.workers)
        right_wrong = np.tile([self.smoothing + self.trust, self.smoothing], (W, 1))
        return np.full(len(votes.classes), self.smoothing), right_wrong

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        if needs_sparse(votes):
            return self._sparse().expected_counts(votes, posterior)
        right = votes.worker_sum(posterior[votes.task, votes.label])
        wrong = (votes.worker_sum() - right).clip(min=0)
        return posterior.sum(axis=0), library(right).stack([right, wrong], axis=1)

    def m_step(self, stats: Stats, params: CoinParams | None) -> CoinParams:
        class_counts, right_wrong = stats
        prior = like(self.class_prior(class_counts), class_counts)
        return CoinParams(prior, right_wrong[:, 0] / right_wrong.sum(axis=1))

    def log_joint(self, votes: Votes, params: CoinParams) -> Floats:
        log = library(params.skill).log
        log_right = log(params.skill)[votes.worker]
        log_wrong = log((1 - params.skill) / (len(votes.classes) - 1))[votes.worker]
        log_joint = votes.tally(log_right - log_wrong)
        log_joint += votes.task_sum(log_wrong)[:, None] + log(params.prior)
        return log_joint

    def log_prior(self, pseudo_counts: Stats, params: CoinParams) -> float:
        xp = library(params.skill)
        coin = xp.stack([params.skill, 1 - params.skill], axis=1)
        return float(
            (pseudo_counts[0] * xp.log(params.prior)).sum() + (pseudo_counts[1] * xp.log(coin)).sum()
        )

    def to_result(self, votes: Votes, params: CoinParams, posterior: Floats) -> Aggregate:
        if needs_sparse(votes):
            return self._sparse().to_result(votes, params, posterior)
        skill = np.where(votes.worker_sum() > 0, params.skill, np.nan)
        return Aggregate(votes, posterior, skill, {"prior": params.prior})
