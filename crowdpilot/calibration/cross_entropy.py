"""The one fit of all smooth maps: least cross-entropy of a softmax of a linear function."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, minimize

from crowdpilot.arrays import Floats, sum_by


class Problem(NamedTuple):
    """Find the coefficients of softmax(features @ coefficients) that are closest to the targets.

    Entry (d, k) of the coefficients is parameter `tied[d, k]`, zero where that is -1. Parameters
    begin at a centre and are drawn back to it: the objective is the mean over rows of

        -sum_k target_k log softmax_k  +  sum_i strength_i (parameter_i - centre_i)^2 / (2 rows)

    where a row of weight w counts as w rows. It is convex; the strengths are the precisions of a
    normal prior around the centre, so that few rows move little and perfect separation, whose
    best parameters are infinite, has an answer.
    """

    features: Floats  # (rows, features)
    target: Floats  # (rows, outputs), rows sum to one
    weight: Floats  # (rows,)
    tied: NDArray[np.intp]  # (features, outputs)
    centre: Floats  # (parameters,)
    strength: Floats  # (parameters,)

    def coefficients(self, parameters: Floats) -> Floats:
        """(features, outputs), the parameters at their places."""
        return np.append(parameters, 0.0)[self.tied]

    def objective(self, parameters: Floats) -> tuple[float, Floats]:
        """What is minimised, and its gradient."""
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
        away = parameters - self.centre
        pull = self.strength * away
        gradient = sum_by(self.tied.ravel() + 1, slope.ravel(), len(parameters) + 1)[1:] + pull
        return float(loss + pull @ away / 2) / rows, gradient / rows


def solve(problem: Problem, lower: ArrayLike = -np.inf, rounds: int = 1000) -> Floats:
    """Coefficients (features, outputs) of least objective, by L-BFGS from the centre.

    No parameter goes below `lower`, one number or one for each.
    """
    found = minimize(
        problem.objective,
        problem.centre,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(np.broadcast_to(lower, problem.centre.shape), np.inf),
        options={"maxiter": rounds, "maxfun": 2 * rounds, "ftol": 1e-13, "gtol": 1e-8, "maxcor": 20},
    )
    return problem.coefficients(found.x)


def slope(logs: Floats, target: Floats, weight: Floats, strength: float = 1.0) -> float:
    """1 / T of the best temperature, softmax(log p / T), held at 1; T is at most 100."""
    tied = np.eye(logs.shape[1], dtype=np.intp) - 1
    problem = Problem(logs, target, weight, tied, np.ones(1), np.full(1, strength))
    return float(solve(problem, 0.01)[0, 0])
