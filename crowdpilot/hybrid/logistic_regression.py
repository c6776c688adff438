"""Logistic regression on soft labels: a classifier that needs nothing but numpy and scipy."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from crowdpilot.arrays import Floats


class Logistic:
    """P(k | x) ∝ exp(x · weights[:, k] + bias[k]), learned from probabilities instead of labels.

    Minimises the cross-entropy to the targets plus strength / 2 · |weights|².

    Parameters
    ----------
    strength
        How firmly the weights are held at zero.
    max_iter
        Steps of L-BFGS at most.

    Examples
    --------
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = Logistic(strength=0.1).fit(x, [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    >>> model.predict_proba([[3.0]]).round(1).tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, strength: float = 1.0, max_iter: int = 100) -> None:
        if not strength > 0:
            raise ValueError(f"strength is {strength}, expected a number above 0")
        self.strength, self.max_iter = strength, max_iter

    def fit(self, x: Any, targets: ArrayLike) -> Self:
        """Learn from rows, dense or sparse, and the probability of each class of each row."""
        rows = _rows(x)
        wanted = np.asarray(targets, np.float64)
        if wanted.ndim != 2 or len(wanted) != rows.shape[0]:
            raise ValueError(
                f"the targets have shape {wanted.shape}, expected {rows.shape[0]} rows of one number a class"
            )
        K = wanted.shape[1]
        # Two classes need one column: what speaks for the one speaks against the other.
        basis = np.array([[-1.0, 1.0]]) if K == 2 else np.eye(K)
        shape = rows.shape[1] + 1, len(basis)
        mass = wanted.sum(axis=1, keepdims=True)

        def cost(flat: Floats) -> tuple[float, Floats]:
            w = flat.reshape(shape)
            said = log_softmax((rows @ w[:-1] + w[-1]) @ basis, axis=1)
            off = (mass * np.exp(said) - wanted) @ basis.T
            firm = self.strength * (basis**2).sum(axis=1)
            slope = np.vstack([rows.T @ off + firm * w[:-1], off.sum(axis=0)])
            return float((firm * w[:-1] ** 2).sum() / 2 - (wanted * said).sum()), slope.ravel()

        start = np.zeros(shape)
        share = np.log(wanted.mean(axis=0) + 1e-3)
        start[-1] = (share - share.mean()) @ np.linalg.pinv(basis)
        found = minimize(
            cost,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "ftol": 1e-6, "maxcor": 5},
        )
        self.weights: Floats = found.x.reshape(shape) @ basis
        return self

    def predict_proba(self, x: Any) -> Floats:
        """The probability of each class of each row, (rows, classes)."""
        probs: Floats = softmax(_rows(x) @ self.weights[:-1] + self.weights[-1], axis=1)
        return probs


def _rows(x: Any) -> Any:
    """Sparse rows as they are, any others as an array of floats."""
    return x.tocsr() if hasattr(x, "tocsr") else np.asarray(x, np.float64)
