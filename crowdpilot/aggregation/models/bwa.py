"""BWA, Bayesian weighted average: votes are noisy measurements, workers differ in precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate, expected_worker_accuracy
from crowdpilot.aggregation.class_prior import fixed_prior
from crowdpilot.aggregation.earlier_results import starting_probs, worker_history
from crowdpilot.aggregation.objective_ascent import ObjectiveAscent
from crowdpilot.aggregation.truth_discovery import expect_positive
from crowdpilot.arrays import Floats, share_best, to_probs
from crowdpilot.votes import Votes


class ScorePosterior(NamedTuple):
    """Normal posterior of the scores of the tasks."""

    mean: Floats  # (tasks, classes)
    variance: Floats  # (tasks,); zero where the class is known


@dataclass(frozen=True)
class BWA(ObjectiveAscent):
    """The score of a task is the average of its votes, weighted by the precision of the workers.

    A vote for class *l* is the point e[l], a one among zeros. The score z[i] of a task is normal
    around the class prior with precision `strength`, a vote of worker *j* is normal around z[i]
    with precision v[j], and v[j] has a Gamma prior. EM over the scores alternates

    mean of z[i] = (strength prior + sum_j v[j] e[vote_j]) / (strength + sum_j v[j]),
    v[j] = (a + (K - 1) votes[j]) / (a variance + sum of distances of the votes from z),

    where the distance is half the squared length, as it is in the plane of K - 1 dimensions in
    which the points lie. The mean is itself a row of probabilities. The trace is the log-likelihood
    of the votes, the scores integrated out, plus the log-density of v.

    Parameters
    ----------
    a
        Strength of the prior of the precisions, in votes of two classes; its variance is that of the
        votes around the vote shares of their task.
    strength
        Precision of the scores around the class prior.
    smoothing
        Pseudo-count of random votes in the estimate of the variance, so that it is not zero.

    References
    ----------
    Li, Rubinstein and Cohn, Truth inference at scale: a Bayesian model for adjudicating highly
    redundant crowd annotations, WWW 2019. https://arxiv.org/abs/1902.08918

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.8, 0.8, 0.6], seed=0)
    >>> BWA().fit(votes).params["precision"].round().tolist()
    [10.0, 6.0, 7.0, 3.0]
    """

    a: float = 15.0
    strength: float = 1.0
    smoothing: float = 1.0

    name: ClassVar[str] = "bwa"
    uses_history: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("precision",)

    def __post_init__(self) -> None:
        expect_positive(self, "a", "strength", "smoothing", "max_iter")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        K = len(votes.classes)
        prior, vote_weight = fixed_prior(self.prior, K), votes.worker_sum()
        probs = votes.shares() if start is None else starting_probs(votes, start)
        score = ScorePosterior(probs, np.zeros(len(probs)))
        shape = self.a + (K - 1) * worker_history(votes, history, "vote_weight")
        rate = self.a * self.variance(votes) + worker_history(votes, history, "distance")
        trace: list[float] = []
        while not (converged := self.has_converged(votes, trace)) and len(trace) < self.max_iter:
            distance = self.distance(votes, score)
            precision = (shape + (K - 1) * vote_weight) / (rate + distance)
            score, log_likelihood = self.e_step(votes, precision, prior)
            trace.append(log_likelihood + float((shape * np.log(precision) - rate * precision).sum() / 2))
        if not converged:
            self.warn_not_converged(self.max_iter)
        params = {"precision": precision, "vote_weight": vote_weight, "distance": distance}
        skill = expected_worker_accuracy(votes, share_best(score.mean))
        return Aggregate(votes, to_probs(score.mean), skill, params, tuple(trace), converged)

    def variance(self, votes: Votes) -> float:
        """Mean square distance of votes from the vote shares in each dimension, between 0 and 1 / K."""
        K = len(votes.classes)
        random = self.smoothing * (1 - 1 / K) / 2
        apart = float((votes.weights * distances(votes, votes.shares())).sum())
        return (apart + random) / (float(votes.weights.sum()) + self.smoothing) / (K - 1)

    def distance(self, votes: Votes, score: ScorePosterior) -> Floats:
        """Expected distance of the votes of each worker from the scores, (workers,)."""
        K = len(votes.classes)
        return votes.worker_sum(distances(votes, score.mean) + (K - 1) * score.variance[votes.task])

    def e_step(self, votes: Votes, precision: Floats, prior: Floats) -> tuple[ScorePosterior, float]:
        """Posterior of the scores given the precisions of the workers, and log-likelihood of the votes."""
        each, freedom = precision[votes.worker], len(prior) - 1
        total = self.strength + votes.task_sum(each)
        mean = votes.clamp((self.strength * prior + votes.tally(each)) / total[:, None])
        open_ = np.ones(len(mean), bool) if votes.gold is None else votes.gold < 0
        fit = votes.weights * (freedom * np.log(each) - each * distances(votes, mean))
        pull = freedom * np.log(self.strength / total) - self.strength * half_square(mean - prior)
        return ScorePosterior(mean, open_ / total), float(fit.sum() + pull[open_].sum()) / 2


def half_square(points: Floats) -> Floats:
    """Half the squared length of each row."""
    return np.asarray(np.einsum("ik,ik->i", points, points) / 2, np.float64)


def distances(votes: Votes, mean: Floats) -> Floats:
    """Half the squared length from the point of each vote to the mean of its task."""
    apart = half_square(mean)[votes.task] - mean[votes.task, votes.label] + 0.5
    return np.maximum(apart, 0.0)
