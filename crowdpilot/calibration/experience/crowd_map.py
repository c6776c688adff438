"""CrowdMap: the probability that a label is right, by logistic regression with uncertain coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from crowdpilot.arrays import Floats

DEGREES_OF_FREEDOM = 10  # of the distribution over crowds, which some thirty crowds have taught
DRAWS = 1000  # of the coefficients, for intervals
MAX_TASKS = 4000  # that an interval is computed from; of more, every n-th
MAX_STEPS = 100  # of Newton's method
TOLERANCE = 1e-8  # of coefficients


class AccuracyEstimate(NamedTuple):
    """The expected share of right labels, and an interval of it."""

    mean: float
    low: float
    high: float
    level: float = 0.9

    def __str__(self) -> str:
        return f"{self.mean:.0%} ({self.low:.0%} to {self.high:.0%})"


class Fit(NamedTuple):
    """The coefficients of one crowd, and the marginal log-likelihood of its right and wrong labels."""

    map: CrowdMap
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class CrowdMap:
    """P(label is right) = expit(features @ coefficients), with coefficients that are normally distributed.

    Before anything is known about a crowd, the distribution is that of the coefficients of many crowds;
    labels that an expert has checked narrow it.

    Parameters
    ----------
    mean
        Of the coefficients, (features,).
    covariance
        Of the coefficients, (features, features).
    checked
        How many labels of this crowd an expert has checked.
    """

    mean: Floats
    covariance: Floats
    checked: int = 0

    def confidence(self, features: Floats) -> Floats:
        """P(label is right) with the coefficients integrated out, (tasks,) (MacKay 1992)."""
        probs: Floats = expit(features @ self.mean / self._shrinkage(features))
        return probs

    def slope(self, features: Floats) -> Floats:
        """Derivative of `confidence` by the log-odds of each label, (tasks,): the mean of p (1 - p)."""
        p = self.confidence(features)
        slope: Floats = p * (1 - p) / self._shrinkage(features)
        return slope

    def in_better_crowds(self, features: Floats, deviations: float) -> Floats:
        """P(label is right) in crowds whose log-odds are so many standard deviations better, (tasks,)."""
        probs: Floats = expit(features @ self.mean + deviations * np.sqrt(self._variance(features)))
        return probs

    def _variance(self, features: Floats) -> Floats:
        """Of the log-odds that each label is right, (tasks,)."""
        variance: Floats = ((features @ self.covariance) * features).sum(axis=1)
        return variance

    def _shrinkage(self, features: Floats) -> Floats:
        """What the mean log-odds are divided by, because the coefficients are uncertain, (tasks,)."""
        shrinkage: Floats = np.sqrt(1 + np.pi * self._variance(features) / 8)
        return shrinkage

    def update(self, features: Floats, right: Floats, weight: Floats | None = None) -> Fit:
        """The coefficients given which labels are right, by Bayes' rule with Laplace's approximation.

        Parameters
        ----------
        features
            (tasks, features).
        right
            1 where a label is right, 0 where it is wrong, (tasks,).
        weight
            Of each task, (tasks,); ones if not given.
        """
        w = np.ones(len(right)) if weight is None else weight
        precision = np.linalg.inv(self.covariance)
        b = self.mean.copy()
        for _ in range(MAX_STEPS):
            p = expit(features @ b)
            gradient = features.T @ (w * (right - p)) - precision @ (b - self.mean)
            hessian = (features * (w * p * (1 - p))[:, None]).T @ features + precision
            step = np.linalg.solve(hessian, gradient)
            largest = float(np.abs(step).max())
            b = b + step / max(1.0, largest)
            if largest < TOLERANCE:
                break
        eta, shift = features @ b, b - self.mean
        log_likelihood = float(
            (w * (right * eta - np.logaddexp(0, eta))).sum() - shift @ precision @ shift / 2
        )
        log_volume = float(np.linalg.slogdet(precision)[1] - np.linalg.slogdet(hessian)[1]) / 2
        return Fit(
            CrowdMap(b, np.linalg.inv(hessian), self.checked + len(right)), log_likelihood + log_volume
        )

    def accuracy(
        self, features: Floats, known: int = 0, *, level: float = 0.9, seed: int = 0
    ) -> AccuracyEstimate:
        """The expected share of right labels, and an interval of the share that really is right.

        Parameters
        ----------
        features
            Of the tasks whose label may be wrong, (tasks, features).
        known
            Number of further tasks whose label is surely right.
        level
            Probability that the interval holds.
        seed
            Of the draws of coefficients.
        """
        total = len(features) + known
        if len(features) == 0:
            return AccuracyEstimate(1.0, 1.0, 1.0, level)
        rng = np.random.default_rng(seed)
        some = features[:: -(-len(features) // MAX_TASKS)]
        root = np.linalg.cholesky(self.covariance + 1e-12 * np.eye(len(self.mean)))
        draws = self.mean + rng.standard_normal((DRAWS, len(self.mean))) @ root.T * self._tails(rng)
        probs = some @ draws.T  # (tasks, draws)
        expit(probs, out=probs)
        share = probs.mean(axis=0)
        variance = np.maximum(share - np.einsum("td,td->d", probs, probs) / len(probs), 0)  # of right labels
        by_chance = np.sqrt(variance / len(features))
        share = np.clip(share + by_chance * rng.standard_normal(DRAWS), 0, 1)
        share = (share * len(features) + known) / total
        mean = (float(self.confidence(some).mean()) * len(features) + known) / total
        low, high = np.quantile(share, [(1 - level) / 2, (1 + level) / 2])
        return AccuracyEstimate(mean, min(float(low), mean), max(float(high), mean), level)

    def _tails(self, rng: np.random.Generator) -> Floats:
        """Factors that turn normal draws into those of Student's t: few crowds are known, some are odder."""
        freedom = DEGREES_OF_FREEDOM + self.checked
        tails: Floats = np.sqrt(freedom / rng.chisquare(freedom, (DRAWS, 1)))
        return tails
