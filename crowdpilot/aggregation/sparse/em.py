"""EM over candidate classes: the one-coin model with a sparse posterior, for any number of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import xlogy

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.earlier_results import starting_classes
from crowdpilot.aggregation.em.backend import Backend, EMModel, Stats
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.aggregation.em.in_memory_backend import InMemoryVotes
from crowdpilot.aggregation.em.loop import EM, Prior
from crowdpilot.aggregation.sparse.candidates import Candidates, find_candidates, needs_sparse, vote_shares
from crowdpilot.aggregation.sparse.posterior import probability_of, to_dense
from crowdpilot.arrays import Floats, sum_by
from crowdpilot.votes import Votes


class CoinParams(NamedTuple):
    """Parameters of the one-coin model."""

    prior: Floats  # (classes,)
    skill: Floats  # (workers,)


@dataclass(frozen=True)
class CandidateBackend:
    """Votes in the memory of this process, with a posterior over candidates.

    Parameters
    ----------
    start
        An earlier result to start at, if there is one.
    """

    start: Aggregate | None

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> InMemoryVotes:
        if self.start is not None:
            probs = with_unlisted(find_candidates(votes), starting_candidates(votes, self.start))
        return InMemoryVotes(votes, probs)


@dataclass(frozen=True)
class SparseOneCoin(EM):
    """The one-coin model over candidates: the classes that somebody gave to a task, and its gold label.

    A posterior is one array: the probability of each candidate of all tasks, then for each task the
    probability that its class is unlisted, none of its candidates. Nothing is as large as tasks x classes.

    Its settings are those of `OneCoin`.
    """

    prior: Prior = "uniform"
    smoothing: float = 0.1
    trust: float = 1.0

    name: ClassVar[str] = "one_coin"
    additive_counts: ClassVar[bool] = False
    supports_sparse: ClassVar[bool] = True

    def run_on(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        return Aggregator.run_on(self, backend, votes, start, history)  # in memory alone

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend = IN_MEMORY
    ) -> Aggregate:
        return super().run(votes, None, history, CandidateBackend(start))

    def pseudo_counts(self, votes: Votes) -> Stats:
        right_wrong = np.tile([self.smoothing + self.trust, self.smoothing], (len(votes.workers), 1))
        return np.full(len(votes.classes), self.smoothing), right_wrong

    def initial_posterior(self, votes: Votes) -> Floats:
        candidates = find_candidates(votes)
        shares = probability_of(vote_shares(votes), candidates.task, candidates.label)
        return with_unlisted(candidates, shares)

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        uniform = np.full(len(votes.classes), 1 / len(votes.classes))
        return self.candidate_counts(votes, posterior, uniform)

    def candidate_counts(self, votes: Votes, posterior: Floats, prior: Floats) -> Stats:
        """Expected counts; tasks of an unlisted class are divided between the classes by `prior`."""
        candidates = find_candidates(votes)
        listed, unlisted = np.split(posterior, [len(candidates.task)])
        mass = unlisted_prior(candidates, prior)
        per_prior = np.divide(unlisted, mass, out=np.zeros(len(unlisted)), where=candidates.unlisted > 0)
        surplus = listed - per_prior[candidates.task] * prior[candidates.label]
        class_counts = sum_by(candidates.label, surplus, len(prior))
        right = votes.worker_sum(listed[candidates.vote])
        wrong = np.maximum(votes.worker_sum() - right, 0)
        return np.maximum(class_counts + per_prior.sum() * prior, 0), np.stack([right, wrong], axis=1)

    def m_step(self, stats: Stats, params: Any) -> Any:
        class_counts, right_wrong = stats
        return CoinParams(self.class_prior(class_counts), right_wrong[:, 0] / right_wrong.sum(axis=1))

    def log_joint(self, votes: Votes, params: Any) -> Floats:
        candidates = find_candidates(votes)
        log_right, log_wrong = np.log(params.skill)[votes.worker], np.log1p(-params.skill)[votes.worker]
        all_wrong = votes.task_sum(log_wrong)
        listed = candidates.tally(votes, log_right - log_wrong) + np.log(params.prior)[candidates.label]
        listed += all_wrong[candidates.task] + self.log_mistakes(votes, candidates, params)
        chance = votes.task_sum() * np.log(len(params.prior) - 1)
        with np.errstate(divide="ignore"):  # every class may be a candidate
            unlisted = all_wrong - chance + np.log(unlisted_prior(candidates, params.prior))
        return np.concatenate([listed, unlisted])

    def log_mistakes(self, votes: Votes, candidates: Candidates, params: Any) -> Floats:
        """For each candidate, were it the class: log P(labels of the wrong votes | they are wrong)."""
        mistakes = votes.task_sum()[candidates.task] - candidates.weight
        logs: Floats = -mistakes * np.log(len(votes.classes) - 1)
        return logs

    def log_prior(self, pseudo_counts: Stats, params: Any) -> float:
        coin = np.stack([params.skill, 1 - params.skill], axis=1)
        return float(xlogy(pseudo_counts[0], params.prior).sum() + xlogy(pseudo_counts[1], coin).sum())

    def e_step(self, votes: Votes, params: Any) -> tuple[Stats, float]:
        posterior = self.log_joint(votes, params)
        log_likelihood = normalize_candidates_(find_candidates(votes), posterior)
        return self.candidate_counts(votes, posterior, params.prior), log_likelihood

    def posterior(self, votes: Votes, params: Any) -> Floats:
        posterior = self.log_joint(votes, params)
        normalize_candidates_(find_candidates(votes), posterior)
        return posterior

    def to_result(self, votes: Votes, params: Any, posterior: Floats) -> Aggregate:
        candidates = find_candidates(votes)
        listed = candidates.to_matrix(posterior[: len(candidates.task)])
        probs = listed if needs_sparse(votes) else to_dense(listed, params.prior)
        skill = np.where(votes.worker_sum() > 0, params.skill, np.nan)
        return Aggregate(votes, probs, skill, {"prior": params.prior})


def unlisted_prior(candidates: Candidates, prior: Floats) -> Floats:
    """Prior probability that the class of each task is none of its candidates, (tasks,)."""
    rest = 1 - candidates.per_task(prior[candidates.label])
    return np.where(candidates.unlisted > 0, np.maximum(rest, np.finfo(np.float64).tiny), 0)


def normalize_candidates_(candidates: Candidates, log_joint: Floats) -> float:
    """Turn `log_joint` of candidates and unlisted classes into the posterior in place; the log-likelihood."""
    listed, unlisted = np.split(log_joint, [len(candidates.task)])  # views
    if candidates.gold is not None:
        listed[candidates.excluded] = -np.inf
        unlisted[candidates.gold >= 0] = -np.inf
    top = np.maximum(candidates.per_task_max(listed), unlisted)
    log_joint -= np.concatenate([top[candidates.task], top])
    np.exp(log_joint, out=log_joint)
    total = candidates.per_task(listed) + unlisted
    log_joint /= np.concatenate([total[candidates.task], total])
    return float((top + np.log(total)).sum())


def with_unlisted(candidates: Candidates, listed: Floats) -> Floats:
    """The probability of each candidate, then for each task what is left for unlisted classes."""
    return np.concatenate([listed, np.maximum(1 - candidates.per_task(listed), 0)])


def starting_candidates(votes: Votes, start: Aggregate) -> Floats:
    """Probability of each candidate in an earlier result; vote shares for tasks that are new to it."""
    candidates = find_candidates(votes)
    columns = starting_classes(votes, start)
    rows = start.votes.index("tasks", votes.tasks)[candidates.task]
    known = columns[candidates.label]
    old = probability_of(start.posterior, np.maximum(rows, 0), known, start.unlisted_prior)
    new = probability_of(vote_shares(votes), candidates.task, candidates.label)
    return candidates.clamp(np.where(rows >= 0, old, new))


def equal_skill_posterior(votes: Votes, log_odds: float) -> Floats:
    """Posterior if every vote for a class adds the same log-odds to it."""
    candidates = find_candidates(votes)
    with np.errstate(divide="ignore"):  # every class may be a candidate
        posterior = np.concatenate([log_odds * candidates.weight, np.log(candidates.unlisted)])
    normalize_candidates_(candidates, posterior)
    return posterior
