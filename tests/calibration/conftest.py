"""Classifiers whose faults are known."""

from __future__ import annotations

import numpy as np
import pytest


def normalized(rows: np.ndarray) -> np.ndarray:
    return rows / rows.sum(axis=1, keepdims=True)


def draw(probs: np.ndarray, seed: int) -> np.ndarray:
    """One class for each row, with the probabilities of the row."""
    lot = np.random.default_rng(seed).random((len(probs), 1))
    return np.minimum((probs.cumsum(axis=1) > lot).argmax(axis=1), probs.shape[1] - 1)


def honest(n: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are perfectly calibrated, and the classes."""
    rng = np.random.default_rng(seed)
    probs = normalized(np.exp(rng.normal(0, 1.5, (n, K))))
    return probs, draw(probs, seed + 1)


@pytest.fixture(params=[2, 3], ids=["2 classes", "3 classes"])
def too_sure(request) -> tuple[np.ndarray, np.ndarray]:
    """The square of perfectly calibrated probabilities."""
    probs, truth = honest(300, request.param)
    return normalized(probs**2), truth
