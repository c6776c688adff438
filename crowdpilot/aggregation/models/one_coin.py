"""One number for every worker: how often they are right."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Backend, Stats
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.sparse.candidates import needs_sparse
from crowdpilot.aggregation.sparse.em import CandidateBackend, SparseOneCoin
from crowdpilot.aggregation.special_functions import like
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Estimates of the one-coin model."""

    prior: Floats  # (classes,)
    skill: Floats  # (workers,)


@dataclass(frozen=True)
class OneCoin(EM):
    """Worker *j* is right with probability `skill[j]`; every mistake is equally likely.

    log P(k | votes) = log prior[k] + sum_j [vote_j = k] log((K - 1) skill[j] / (1 - skill[j])) + const.

    Needs few votes for each worker, and O(votes) time and memory for any number of classes. The
    classes are taken to be equally frequent: estimated along with coins, one class can swallow
    the others.

    Parameters
    ----------
    smoothing
        Imaginary votes of each worker, as often right as wrong.
    trust
        Further imaginary votes that are right.

    References
    ----------
    Zhang, Chen, Zhou and Jordan, Spectral methods meet EM, JMLR 17, 2016. https://arxiv.org/abs/1406.3824

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.6, 0.3], seed=0)
    >>> OneCoin().fit(votes).skill.round(1).tolist()
    [0.9, 0.8, 0.6, 0.3]
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
            raise ValueError(f"{self.name} of so many classes runs on this machine only, so leave out `on`")
        return self.run(votes, None, history, CandidateBackend(start))

    def _listed(self) -> SparseOneCoin:
        """The same model for the candidates of each task alone: of all votes, or of some that lie apart."""
        settings: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(SparseOneCoin)}
        return SparseOneCoin(**settings)

    def initial_posterior(self, votes: Votes) -> Floats:
        return (
            self._listed().initial_posterior(votes)
            if needs_sparse(votes)
            else super().initial_posterior(votes)
        )

    def e_step(self, votes: Votes, params: Params) -> tuple[Stats, float]:
        return self._listed().e_step(votes, params) if needs_sparse(votes) else super().e_step(votes, params)

    def posterior(self, votes: Votes, params: Params) -> Floats:
        return (
            self._listed().posterior(votes, params)
            if needs_sparse(votes)
            else super().posterior(votes, params)
        )

    def pseudo_counts(self, votes: Votes) -> Stats:
        W = len(votes.workers)
        right_wrong = np.tile([self.smoothing + self.trust, self.smoothing], (W, 1))
        return np.full(len(votes.classes), self.smoothing), right_wrong

    def expected_counts(self, votes: Votes, probs: Floats) -> Stats:
        if needs_sparse(votes):
            return self._listed().expected_counts(votes, probs)
        right = votes.worker_sum(probs[votes.task, votes.label])
        wrong = (votes.worker_sum() - right).clip(min=0)
        return probs.sum(axis=0), library(right).stack([right, wrong], axis=1)

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        seen, right_wrong = stats
        prior = like(self.class_prior(seen), seen)
        return Params(prior, right_wrong[:, 0] / right_wrong.sum(axis=1))

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        log = library(params.skill).log
        log_right = log(params.skill)[votes.worker]
        log_wrong = log((1 - params.skill) / (len(votes.classes) - 1))[votes.worker]
        joint = votes.tally(log_right - log_wrong)
        joint += votes.task_sum(log_wrong)[:, None] + log(params.prior)
        return joint

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        xp = library(params.skill)
        coin = xp.stack([params.skill, 1 - params.skill], axis=1)
        return float(
            (pseudo_counts[0] * xp.log(params.prior)).sum() + (pseudo_counts[1] * xp.log(coin)).sum()
        )

    def to_result(self, votes: Votes, params: Params, probs: Floats) -> Aggregate:
        if needs_sparse(votes):
            return self._listed().to_result(votes, params, probs)
        skill = np.where(votes.worker_sum() > 0, params.skill, np.nan)
        return Aggregate(votes, probs, skill, {"prior": params.prior})
