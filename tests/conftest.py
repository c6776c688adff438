"""Crowds whose truth is known, shared by all tests."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.votes import Votes


def crowd(tasks: int, skill: list[float], classes: int, per_task: int, seed: int) -> tuple[Votes, np.ndarray]:
    """One-coin workers with the given skills, `per_task` of them on each task."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, tasks)
    task = np.repeat(np.arange(tasks), per_task)
    worker = rng.random((tasks, len(skill))).argsort(axis=1)[:, :per_task].ravel()
    right = rng.random(len(task)) < np.asarray(skill)[worker]
    wrong = (truth[task] + rng.integers(1, classes, len(task))) % classes
    label = np.where(right, truth[task], wrong)
    return Votes(task, worker, label, np.arange(tasks), np.arange(len(skill)), np.arange(classes)), truth


@pytest.fixture(scope="session")
def simulated() -> tuple[Votes, np.ndarray]:
    """150 tasks of 3 classes, 5 votes each by 8 workers from very good to bad."""
    return crowd(150, [0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.3], classes=3, per_task=5, seed=0)
