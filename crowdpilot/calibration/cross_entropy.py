"""Regularized softmax regression by L-BFGS: fits parametric calibration maps, such as the temperature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # whose `optimize` takes long to import: it is loaded when it is used
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats, sum_by

MIN_INVERSE_TEMPERATURE = 0.01


class SoftmaxRegression(NamedTuple):
    """The problem to find coefficients of softmax(features @ coefficients) with least cross-entropy.

    Entry (d, k) of the coefficients is parameter `parameter_index[d, k]`, and zero where that is -1, so that
    coefficients may share a parameter. The objective is the mean over rows of

        -Σ_k target_k log softmax_k  +  Σ_i precision_i (parameter_i - mean_i)² / (2 rows)

    where a row of weight w counts as w rows: the negative log-posterior with normal priors. It is
    convex; the priors keep the parameters finite where the classes are perfectly separated.
    """

    features: Floats  # (rows, features)
    target: Floats  # (rows, outputs), rows sum to one
    weight: Floats  # (rows,)
    parameter_index: NDArray[np.intp]  # (features, outputs)
    mean: Floats  # (parameters,), of the prior; also the starting point
    precision: Floats  # (parameters,), of the prior

    def coefficients(self, parameters: Floats) -> Floats:
        """(features, outputs), from (parameters,)."""
        return np.append(parameters, 0.0)[self.parameter_index]

    def objective(self, parameters: Floats) -> tuple[float, Floats]:
        """The objective and its gradient, (parameters,)."""
        rows = float(self.weight.sum())
        joint = self.features @ self.coefficients(parameters)
        joint -= joint.max(axis=1, keepdims=True)
        loss = -np.einsum("nk,nk,n", self.target, joint, self.weight)
        np.exp(joint, out=joint)
        mass = joint.sum(axis=1)
        loss += self.weight @ np.log(mass)
        joint *= (self.weight / mass)[:, None]  # now the weighted probabilities
        joint -= self.target * self.weight[:, None]
        slope = self.features.T @ joint
        deviation = parameters - self.mean
        prior = self.precision * deviation
        gradient = sum_by(self.parameter_index.ravel() + 1, slope.ravel(), len(parameters) + 1)[1:] + prior
        return float(loss + prior @ deviation / 2) / rows, gradient / rows


def fit_coefficients(
    problem: SoftmaxRegression, lower: ArrayLike = -np.inf, max_iterations: int = 1000
) -> Floats:
    """Coefficients (features, outputs) that minimize the objective, by L-BFGS from the prior mean.

    `lower` bounds the parameters from below, one number or one for each.
    """
    optimum = scipy.optimize.minimize(
        problem.objective,
        problem.mean,
        jac=True,
        method="L-BFGS-B",
        bounds=scipy.optimize.Bounds(np.broadcast_to(lower, problem.mean.shape), np.inf),
        options={
            "maxiter": max_iterations, "maxfun": 2 * max_iterations, "ftol": 1e-13, "gtol": 1e-8, "maxcor": 20
        },
    )  # fmt: skip
    return problem.coefficients(optimum.x)


def fit_inverse_temperature(
    log_probs: Floats, target: Floats, weight: Floats, strength: float = 1.0
) -> float:
    """1 / T of temperature scaling, softmax(log p / T), with a normal prior around 1; T is at most 100.

    `log_probs` and `target` are (tasks, classes), `weight` is (tasks,), `strength` the prior precision.
    """
    index = np.eye(log_probs.shape[1], dtype=np.intp) - 1
    problem = SoftmaxRegression(log_probs, target, weight, index, np.ones(1), np.full(1, strength))
    return float(fit_coefficients(problem, MIN_INVERSE_TEMPERATURE)[0, 0])
