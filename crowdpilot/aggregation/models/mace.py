"""Workers who know, or spam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate, expected_accuracy
from crowdpilot.aggregation.em.backend import Stats
from crowdpilot.aggregation.em.loop import EM, random_weight_restarts
from crowdpilot.aggregation.models.dawid_skene import mean_log, minus_divergence
from crowdpilot.aggregation.special_functions import like
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Expected logs under Dirichlet beliefs with these counts (or plain logs of the best values)."""

    prior: Floats  # (classes,)
    honest: Floats  # (workers, 2): counts of votes that were honest, spam
    spam: Floats  # (workers, classes): counts of the labels spammed
    log_honest: Floats
    log_spam: Floats


@dataclass(frozen=True)
class MACE(EM):
    """On each vote worker *j* knows the class with probability `honesty[j]`, else spams from `spamming[j]`.

    P(vote_j = l | class k) = honesty[j] * [l = k] + (1 - honesty[j]) spamming[j, l].

    Parameters
    ----------
    variational
        Average over honesty and spamming by mean-field Bayes, as in the paper, instead of taking
        their best values.
    honest_prior, spam_prior
        Imaginary votes: honest and spam of each worker; of each label among the spam.
    tries
        Beginnings to climb from; the best end is kept.
    seed
        Of the beginnings after the first.

    References
    ----------
    Hovy, Berg-Kirkpatrick, Vaswani and Hovy, Learning whom to trust with MACE, NAACL 2013.
    https://aclanthology.org/N13-1132

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.9, 0.9, 0.5, 0.5], seed=0)
    >>> (MACE().fit(votes).params["honesty"] > 0.5).tolist()
    [True, True, True, False, False]
    """

    variational: bool = True
    honest_prior: float = 0.5
    spam_prior: float = 10.0
    smoothing: float = 0.5
    tries: int = 10
    seed: int = 0

    name: ClassVar[str] = "mace"
    per_worker: ClassVar[tuple[str, ...]] = ("honesty",)

    @property
    def n_restarts(self) -> int:
        return self.tries

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        return random_weight_restarts(votes, probs, self.tries, self.seed)

    def pseudo_counts(self, votes: Votes) -> Stats:
        nothing = np.zeros((len(votes.workers), len(votes.classes)))
        return np.full(len(votes.classes), self.smoothing), nothing, nothing

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        right = votes.cell_sum(posterior[votes.task, votes.label])
        return posterior.sum(axis=0), right, (votes.cell_sum() - right).clip(min=0)

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        seen, right, wrong = stats
        xp = library(seen)
        prior = like(self.class_prior(seen), seen)
        knew = right * (0.5 if params is None else _knew(params))
        spam = right - knew + wrong + self.spam_prior
        honest = xp.stack([knew.sum(axis=1), (right - knew + wrong).sum(axis=1)], axis=1) + self.honest_prior
        if self.variational:
            return Params(prior, honest, spam, mean_log(honest), mean_log(spam))
        logs = (xp.log(c / c.sum(axis=1, keepdims=True)) for c in (honest, spam))
        return Params(prior, honest, spam, *logs)

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        xp = library(params.log_spam)
        log_spam = params.log_honest[:, 1:] + params.log_spam
        log_right = xp.logaddexp(params.log_honest[:, :1], log_spam)
        spam, right = log_spam.ravel()[votes.cell], log_right.ravel()[votes.cell]
        joint = votes.tally(right - spam)
        joint += votes.task_sum(spam)[:, None] + xp.log(params.prior)
        return joint

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        xp = library(params.log_spam)
        log_spam = params.log_honest[:, 1:] + params.log_spam
        log_right = xp.logaddexp(params.log_honest[:, :1], log_spam)
        told = (pseudo_counts[0] * xp.log(params.prior)).sum() + (
            pseudo_counts[1] * log_right + pseudo_counts[2] * log_spam
        ).sum()
        if not self.variational:
            own = self.honest_prior * params.log_honest.sum() + self.spam_prior * params.log_spam.sum()
            return float(told + own)
        honest = minus_divergence(
            xp.full_like(params.honest, self.honest_prior), params.honest, params.log_honest
        )
        spam = minus_divergence(xp.full_like(params.spam, self.spam_prior), params.spam, params.log_spam)
        return float(told + honest + spam)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        share = params.honest / params.honest.sum(axis=1, keepdims=True)
        spam = params.spam / params.spam.sum(axis=1, keepdims=True)
        kept = {"prior": params.prior, "honesty": share[:, 0], "spamming": spam}
        return Aggregate(votes, posterior, expected_accuracy(votes, posterior), kept)


def _knew(params: Params) -> Floats:
    """Probability that a right vote was honest, (workers, classes)."""
    log_spam = params.log_honest[:, 1:] + params.log_spam
    xp = library(log_spam)
    knew: Floats = xp.exp(params.log_honest[:, :1] - xp.logaddexp(params.log_honest[:, :1], log_spam))
    return knew
