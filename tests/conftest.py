"""Crowds whose truth is known, shared by all tests, which compute on one thread each."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is imported; the cores are for pytest -n

import numpy as np
import pytest

from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes


@pytest.fixture(scope="session")
def simulated() -> tuple[Votes, np.ndarray]:
    """150 tasks of 3 classes, 5 votes each by 8 workers from very good to bad."""
    return one_coin_votes(
        150, [0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.3], classes=3, votes_per_task=5, seed=0
    )
