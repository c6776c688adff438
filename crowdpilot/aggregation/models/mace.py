"""MACE: on each vote a worker either knows the class or spams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate, expected_worker_accuracy
from crowdpilot.aggregation.em.backend import Stats
from crowdpilot.aggregation.em.loop import EM, random_weight_restarts
from crowdpilot.aggregation.models.dawid_skene import mean_log, negative_divergence
from crowdpilot.aggregation.special_functions import like
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes


class Params(NamedTuple):
    """Dirichlet counts, and the expected logs they give (or plain logs of their mode)."""

    prior: Floats  # (classes,)
    honest: Floats  # (workers, 2): counts of honest votes and of spam
    spam: Floats  # (workers, classes): counts of the labels of spam
    log_honest: Floats  # (workers, 2)
    log_spam: Floats  # (workers, classes)


@dataclass(frozen=True)
class MACE(EM):
    """On each vote worker *j* knows the class with probability `honesty[j]`, else spams from `spamming[j]`.

    P(vote_j = l | class k) = honesty[j] * [l = k] + (1 - honesty[j]) spamming[j, l].

    Parameters
    ----------
    variational
        Average over honesty and spamming by mean-field variational Bayes, as in the paper, instead of
        their posterior mode.
    honest_prior, spam_prior
        Pseudo-counts of honest votes and of spam of each worker; of each label in the spam.
    smoothing
        Pseudo-count of tasks of each class.
    restarts
        Number of restarts; the one with the highest objective is kept.

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
    restarts: int = 10

    name: ClassVar[str] = "mace"
    per_worker: ClassVar[tuple[str, ...]] = ("honesty",)

    @property
    def n_restarts(self) -> int:
        return self.restarts

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        return random_weight_restarts(votes, probs, self.restarts, self.seed)

    def pseudo_counts(self, votes: Votes) -> Stats:
        none = np.zeros((len(votes.workers), len(votes.classes)))
        return np.full(len(votes.classes), self.smoothing), none, none

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        right = votes.cell_sum(posterior[votes.task, votes.label])
        return posterior.sum(axis=0), right, (votes.cell_sum() - right).clip(min=0)

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        class_counts, right, wrong = stats
        xp = library(class_counts)
        prior = like(self.class_prior(class_counts), class_counts)
        knew = right * (0.5 if params is None else _honest_if_right(params))
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
        log_joint = votes.tally(right - spam)
        log_joint += votes.task_sum(spam)[:, None] + xp.log(params.prior)
        return log_joint

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        xp = library(params.log_spam)
        log_spam = params.log_honest[:, 1:] + params.log_spam
        log_right = xp.logaddexp(params.log_honest[:, :1], log_spam)
        of_pseudo_counts = (pseudo_counts[0] * xp.log(params.prior)).sum() + (
            pseudo_counts[1] * log_right + pseudo_counts[2] * log_spam
        ).sum()
        if not self.variational:
            of_params = self.honest_prior * params.log_honest.sum() + self.spam_prior * params.log_spam.sum()
            return float(of_pseudo_counts + of_params)
        honest = negative_divergence(
            xp.full_like(params.honest, self.honest_prior), params.honest, params.log_honest
        )
        spam = negative_divergence(xp.full_like(params.spam, self.spam_prior), params.spam, params.log_spam)
        return float(of_pseudo_counts + honest + spam)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        share = params.honest / params.honest.sum(axis=1, keepdims=True)
        spam = params.spam / params.spam.sum(axis=1, keepdims=True)
        estimates = {"prior": params.prior, "honesty": share[:, 0], "spamming": spam}
        return Aggregate(votes, posterior, expected_worker_accuracy(votes, posterior), estimates)


def _honest_if_right(params: Params) -> Floats:
    """P(honest | the vote is right) of each worker and label, (workers, classes)."""
    log_spam = params.log_honest[:, 1:] + params.log_spam
    xp = library(log_spam)
    knew: Floats = xp.exp(params.log_honest[:, :1] - xp.logaddexp(params.log_honest[:, :1], log_spam))
    return knew
