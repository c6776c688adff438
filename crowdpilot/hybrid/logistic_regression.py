"""Logistic regression on soft labels: a classifier that needs nothing but numpy and scipy."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from crowdpilot.arrays import Floats


class LogisticRegression:
    """P(k | x) ∝ exp(x · weights[:, k] + bias[k]), fitted to soft labels (class probabilities).

    Minimises the cross-entropy to the targets plus strength / 2 · |weights|².

    Parameters
    ----------
    strength
        Of the L2 penalty on the weights.
    max_iter
        Most iterations of L-BFGS.

    Examples
    --------
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = LogisticRegression(strength=0.1).fit(x, [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    >>> model.predict_proba([[3.0]]).round(1).tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, strength: float = 1.0, max_iter: int = 100) -> None:
        if not strength > 0:
            raise ValueError(f"strength is {strength}, expected a number above 0")
        self.strength, self.max_iter = strength, max_iter

    def fit(self, x: Any, targets: ArrayLike) -> Self:
        """Fit to rows (n, features), dense or sparse, and soft labels (n, classes)."""
        rows = _rows(x)
        labels = np.asarray(targets, np.float64)
        if labels.ndim != 2 or len(labels) != rows.shape[0]:
            raise ValueError(
                f"the targets have shape {labels.shape}, expected {rows.shape[0]} rows of one number a class"
            )
        K = labels.shape[1]
        # Two classes need one column of weights: the log-odds.
        basis = np.array([[-1.0, 1.0]]) if K == 2 else np.eye(K)
        shape = rows.shape[1] + 1, len(basis)
        mass = labels.sum(axis=1, keepdims=True)

        def loss(flat: Floats) -> tuple[float, Floats]:
            w = flat.reshape(shape)
            log_probs = log_softmax((rows @ w[:-1] + w[-1]) @ basis, axis=1)
            residual = (mass * np.exp(log_probs) - labels) @ basis.T
            penalty = self.strength * (basis**2).sum(axis=1)
            gradient = np.vstack([rows.T @ residual + penalty * w[:-1], residual.sum(axis=0)])
            return float((penalty * w[:-1] ** 2).sum() / 2 - (labels * log_probs).sum()), gradient.ravel()

        start = np.zeros(shape)
        log_share = np.log(labels.mean(axis=0) + 1e-3)
        start[-1] = (log_share - log_share.mean()) @ np.linalg.pinv(basis)
        optimum = minimize(
            loss,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "ftol": 1e-6, "maxcor": 5},
        )
        self.weights: Floats = optimum.x.reshape(shape) @ basis
        return self

    def predict_proba(self, x: Any) -> Floats:
        """Probabilities of the classes, (rows, classes)."""
        probs: Floats = softmax(_rows(x) @ self.weights[:-1] + self.weights[-1], axis=1)
        return probs


def _rows(x: Any) -> Any:
    """Sparse rows as they are, any others as an array of floats."""
    return x.tocsr() if hasattr(x, "tocsr") else np.asarray(x, np.float64)
