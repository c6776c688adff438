"""Workers are spread over tasks by the law that is promised."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from crowdpilot.simulation.assignment import assign


def draw(
    tasks: int, each: int, popularity: np.ndarray, max_votes_per_worker: int | None = None, seed: int = 0
):
    return assign(tasks, each, popularity, max_votes_per_worker, np.random.default_rng(seed))


@pytest.mark.parametrize("workers", [4, 40])
def test_every_set_of_workers_is_as_likely_as_any_other(workers: int) -> None:
    """4 workers race, 40 are drawn again if they come twice."""
    assigned = draw(40_000, 2, np.zeros(workers))
    seen = np.bincount(assigned[:, 0] * workers + assigned[:, 1], minlength=workers**2)
    possible = np.flatnonzero(np.triu(np.ones((workers, workers)), 1))
    assert seen[possible].sum() == 40_000
    assert chisquare(seen[possible]).pvalue > 1e-3


@pytest.mark.parametrize("others", [0, 30])
def test_popular_workers_come_first_in_proportion_among_those_not_there(others: int) -> None:
    """One law, whether workers race or, with many others beside, are drawn again."""
    likely = np.array([0.4, 0.3, 0.2, 0.1])
    likely = np.concatenate([likely, np.full(others, 0.1)])
    likely /= likely.sum()
    assigned = draw(50_000, 2, np.log(likely) + 5)
    seen = np.bincount(assigned.ravel(), minlength=len(likely)) / 50_000
    expected = np.zeros(len(likely))
    for a, b in permutations(range(len(likely)), 2):
        expected[[a, b]] += likely[a] * likely[b] / (1 - likely[a])
    np.testing.assert_allclose(seen[:4], expected[:4], atol=0.01)


def test_an_extreme_tail_still_finds_different_workers() -> None:
    assigned = draw(500, 5, -50 * np.log1p(np.arange(100)))
    np.testing.assert_array_equal(assigned, np.broadcast_to(np.arange(5), (500, 5)))


def test_a_load_that_does_not_bind_changes_nothing() -> None:
    np.testing.assert_array_equal(draw(50, 3, np.zeros(20), 50), draw(50, 3, np.zeros(20)))


def test_with_a_tight_load_every_worker_still_meets_every_other() -> None:
    assigned = draw(2000, 5, np.zeros(20), max_votes_per_worker=500)
    with_first = assigned[(assigned == 0).any(axis=1)]
    together = np.bincount(with_first.ravel(), minlength=20)[1:]
    assert chisquare(together).pvalue > 1e-3


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_loads_and_hands_are_kept_whatever_the_sizes(data: st.DataObject) -> None:
    tasks, workers = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 12))
    each = data.draw(st.integers(1, workers))
    load = data.draw(st.integers(-(-tasks * each // workers), tasks))
    tail, seed = data.draw(st.sampled_from([0.0, 0.7, 3.0])), data.draw(st.integers(0, 99))
    assigned = draw(tasks, each, -tail * np.log1p(np.arange(workers)), load, seed)
    assert assigned.shape == (tasks, each)
    assert (np.diff(assigned, axis=1) > 0).all()
    assert np.bincount(assigned.ravel()).max() <= load
