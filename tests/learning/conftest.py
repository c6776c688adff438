"""A small crowd whose tasks have content."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from crowdpilot.arrays import Floats
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


class Known(NamedTuple):
    """Votes, the content of their tasks, and the truth."""

    X: Floats
    votes: Votes
    truth: np.ndarray


def make_known(tasks: int = 240, classes: int = 3, seed: int = 0, noise: float = 0.5) -> Known:
    """Clouds around a corner for each class; workers of very different skill."""
    votes, truth = one_coin(tasks=tasks, classes=classes, skill=[0.9, 0.8, 0.6, 0.5, 0.4], seed=seed)
    rng = np.random.default_rng(seed)
    X = np.eye(classes)[truth] @ rng.normal(0, 1, (classes, 6)) + rng.normal(0, noise, (tasks, 6))
    return Known(X, votes, truth)


@pytest.fixture(scope="session")
def known() -> Known:
    return make_known()
