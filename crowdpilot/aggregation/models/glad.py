"""GLAD: the ability of workers and the difficulty of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate, expected_worker_accuracy
from crowdpilot.aggregation.em.backend import Stats
from crowdpilot.aggregation.em.loop import EM, Prior, class_posterior
from crowdpilot.aggregation.special_functions import expit, like, log_expit
from crowdpilot.arrays import Floats, library
from crowdpilot.votes import Votes

NEWTON_STEPS = 2  # of each M-step
FIRST_NEWTON_STEPS = 20  # of the first one, which decides on which side of chance a worker is


class Params(NamedTuple):
    """Parameters of GLAD."""

    prior: Floats  # (classes,)
    ability: Floats  # (workers,)


@dataclass(frozen=True)
class GLAD(EM):
    """Worker *j* is right about task *i* with probability 1 / (1 + exp(-ability[j] easiness[i])).

    Every mistake is equally likely. The log of the easiness has the prior N(1, 1) and is integrated out by
    Gauss-Hermite quadrature, not set to its mode as in the paper: a task has few votes, and so expected
    counts stay sums over tasks. The ability has the prior N(1, 1); its M-step is a Newton step.

    Parameters
    ----------
    points
        Number of quadrature points, the levels of easiness.
    smoothing
        Pseudo-count of tasks of each class.

    References
    ----------
    Whitehill, Ruvolo, Wu, Bergsma and Movellan, Whose vote should count more, NIPS 2009.

    Examples
    --------
    The task on which the workers disagree is the harder one:

    >>> votes = Votes.of([1, 1, 1, 2, 2, 2], list("xyzxyz"), list("aaabab"))
    >>> GLAD().fit(votes).params["difficulty"].round(2).tolist()
    [0.27, 0.39]
    """

    prior: Prior = "uniform"
    points: int = 7
    smoothing: float = 0.5

    name: ClassVar[str] = "glad"
    per_worker: ClassVar[tuple[str, ...]] = ("ability",)
    per_task: ClassVar[tuple[str, ...]] = ("difficulty",)

    def cells(self, votes: Votes) -> int:
        return self.points * super().cells(votes)

    def _easiness(self, array: Floats) -> tuple[Floats, Floats]:
        """Levels of easiness and their prior probabilities, as arrays of the same kind as another."""
        easiness, weight = easiness_levels(self.points)
        return like(easiness, array), like(weight, array)

    def pseudo_counts(self, votes: Votes) -> Stats:
        none = np.zeros((len(votes.workers), self.points))
        return np.full(len(votes.classes), self.smoothing), none, none

    def starting_posteriors(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        _, weight = self._easiness(probs)
        yield (probs[:, :, None] * weight).reshape(len(probs), probs.shape[1] * self.points)

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        K = len(votes.classes)
        states = posterior.reshape(len(posterior) * K, self.points)
        level = posterior.reshape(len(posterior), K, self.points).sum(axis=1)
        right = votes.ballots.T @ states
        all_classes = library(level).broadcast_to(level[:, None], (len(level), K, level.shape[1]))
        total = votes.ballots.T @ all_classes.reshape(states.shape)
        return class_posterior(votes, posterior).sum(axis=0), right, (total - right).clip(min=0)

    def m_step(self, stats: Stats, params: Params | None) -> Params:
        class_counts, right, wrong = stats
        prior = like(self.class_prior(class_counts), class_counts)
        ability = like(np.ones(len(right)), class_counts) if params is None else params.ability
        for _ in range(FIRST_NEWTON_STEPS if params is None else NEWTON_STEPS):
            ability = self.newton_step(ability, right, wrong)
        return Params(prior, ability)

    def newton_step(self, ability: Floats, right: Floats, wrong: Floats) -> Floats:
        """A Newton step for the ability of each worker, halved until the objective does not fall."""
        easiness, _ = self._easiness(ability)
        where = library(ability).where

        def objective(a: Floats) -> Floats:
            x = a[:, None] * easiness
            total: Floats = (right * log_expit(x) + wrong * log_expit(-x)).sum(axis=1) - (a - 1) ** 2 / 2
            return total

        p = expit(ability[:, None] * easiness)
        gradient = (easiness * (right * (1 - p) - wrong * p)).sum(axis=1) - (ability - 1)
        curvature = (easiness**2 * (right + wrong) * p * (1 - p)).sum(axis=1) + 1
        step = gradient / curvature
        before = objective(ability)
        for _ in range(20):
            falls = objective(ability + step) < before
            if not falls.any():
                break
            step = where(falls, step / 2, step)
        updated: Floats = where(falls, ability, ability + step)
        return updated

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        K = len(votes.classes)
        easiness, weight = self._easiness(params.ability)
        xp = library(weight)
        x = params.ability[:, None] * easiness
        log_right, log_wrong = log_expit(x), log_expit(-x) - np.log(K - 1)
        sums = votes.ballots @ xp.hstack([log_right - log_wrong, log_wrong])
        sums = sums.reshape(len(votes.tasks), K, 2, -1)
        log_joint: Floats = sums[:, :, 0] + sums[:, :, 1].sum(axis=1, keepdims=True)
        log_joint += xp.log(params.prior)[:, None] + xp.log(weight)
        return log_joint.reshape(len(log_joint), -1)

    def log_prior(self, pseudo_counts: Stats, params: Params) -> float:
        easiness, _ = self._easiness(params.ability)
        x = params.ability[:, None] * easiness
        of_votes = (pseudo_counts[1] * log_expit(x) + pseudo_counts[2] * log_expit(-x)).sum()
        log_class_prior = library(params.prior).log(params.prior)
        return float(
            (pseudo_counts[0] * log_class_prior).sum() + of_votes - ((params.ability - 1) ** 2).sum() / 2
        )

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        probs = class_posterior(votes, posterior)
        easiness, _ = self._easiness(params.ability)
        level = posterior.reshape(len(posterior), -1, self.points).sum(axis=1)
        estimates = {**params._asdict(), "difficulty": np.exp(-level @ np.log(easiness))}
        return Aggregate(votes, probs, expected_worker_accuracy(votes, probs), estimates)


@cache
def easiness_levels(points: int) -> tuple[Floats, Floats]:
    """Gauss-Hermite points of the easiness and their prior probabilities, (points,) each."""
    x, weight = np.polynomial.hermite_e.hermegauss(points)
    return np.exp(1 + x), weight / weight.sum()
