"""Crowds whose truth is known, shared by all tests; and which of these are left to `make test-thorough`."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.votes import Votes

THOROUGH = (  # whose processes, browsers, clusters or copies of the project take half a minute or more
    "cli/test_demo.py",
    "cli/test_interrupts.py",
    "docs/test_extend.py",
    "report/test_browser.py",
    "scale/test_dask.py",
    "service/faults/test_disk.py",
    "service/faults/test_kills.py",
    "service/pages/dashboard/test_browser.py",
    "service/pages/worker/test_browser.py",
    "service/pages/worker/test_sending.py",
    "service/test_replay.py",
    "service/test_supervise.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them, and whatever starts PostgreSQL."""
    for item in items:
        starts = {"postgres", "own_postgres"}.intersection(getattr(item, "fixturenames", ()))
        if starts or "postgresql" in item.name or item.path.as_posix().endswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)


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
