"""Bounds by betting hold whatever the model says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdpilot.hybrid.audit.betting import (
    ceilings,
    floors,
    growth_rates,
    retained_share,
    sampling_weight,
    stake,
    upper_mean,
)


def test_a_stake_never_gains_on_average_if_the_total_is_that_high() -> None:
    """The exact mean over all draws, for every way in which four items can lose."""
    cap, probability = np.array([1.0, 1.0, 5.0, 0.5]), np.array([0.3, 0.01, 0.1, 0.6])
    share, left = np.array([0.4, 0.2, 0.3, 0.1]), np.ones(4)
    growth = growth_rates(4, 0.05)
    stakes = [stake(cap, probability, left, share, i, growth) for i in range(4)]
    for part in itertools.product([0, 0.5, 1], repeat=4):
        loss = cap * part
        up = sum((s.ceiling - loss[i]) / s.share * share[i] for i, s in enumerate(stakes))
        down = sum((s.floor + loss[i]) / s.share * share[i] for i, s in enumerate(stakes))
        np.testing.assert_allclose(up, stakes[0].ceiling_sum - loss.sum())
        np.testing.assert_allclose(down, stakes[0].floor_sum + loss.sum())


def test_ceilings_are_above_caps_and_make_the_growth_highest() -> None:
    rng = np.random.default_rng(0)
    cap, probability, share = rng.uniform(0.5, 5, 6), rng.uniform(0.01, 0.5, 6), rng.dirichlet(np.ones(6))
    total = 2 * float(cap @ probability)

    def growth(w: np.ndarray) -> float:
        gain = (1 - probability) * np.log(w / share) + probability * np.log((w - cap) / share)
        return float(share @ gain - np.log(w.sum() - total))

    low, high = 1e-3, 10.0
    for _ in range(60):  # the rate that is its own consequence: 1 / (W - m)
        rate = np.array((low + high) / 2)
        w = ceilings(cap, probability, share, rate)
        low, high = (low, float(rate)) if rate * (w.sum() - total) > 1 else (float(rate), high)
    assert (w > cap).all()
    assert growth(w) > 0
    for step in rng.normal(0, 0.02, (200, 6)):
        nearby = cap + (w - cap) * np.exp(step)
        assert growth(nearby) <= growth(w) + 1e-12


def test_floors_solve_their_equation() -> None:
    cap, probability, share = np.array([1.0, 5.0]), np.array([0.1, 0.4]), np.array([0.3, 0.7])
    z = floors(cap, probability, share, np.array(0.2))
    np.testing.assert_allclose(share * ((1 - probability) / z + probability / (z + cap)), 0.2)


def test_the_retained_share_solves_its_equation() -> None:
    probability = np.array([0.001, 0.01, 0.1, 0.5])
    x = retained_share(probability, 0.02)
    np.testing.assert_allclose(probability * ((1 - x) / x + np.log(x)), 0.02, rtol=1e-3)


def test_safe_items_are_drawn_as_their_caps_and_doubtful_ones_by_the_root_of_the_probability() -> None:
    safe = sampling_weight(np.array([1.0, 5.0]), np.array([1e-6, 1e-6]), 0.01)
    np.testing.assert_allclose(safe[1] / safe[0], 5, rtol=1e-6)
    doubtful = sampling_weight(np.ones(2), np.array([0.09, 0.36]), 1e-5)
    np.testing.assert_allclose(doubtful[1] / doubtful[0], 2, rtol=0.02)


def test_a_bound_on_a_mean_fails_no_more_often_than_allowed() -> None:
    pool = np.zeros(300)
    pool[:12] = 1
    rng = np.random.default_rng(0)
    bounds = np.array([upper_mean(rng.permutation(pool)[:80], 300, level=0.9) for _ in range(400)])
    assert (bounds < pool.mean()).mean() <= 0.1
    assert np.median(bounds) < 3 * pool.mean()


def test_the_whole_pool_proves_its_mean() -> None:
    values = np.random.default_rng(0).random(50)
    np.testing.assert_allclose(upper_mean(values, 50, level=0.95), values.mean())
    assert upper_mean([], 50, level=0.95) == 1


def test_a_sample_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        upper_mean([0, 2], 50, level=0.95)
    with pytest.raises(ValueError, match="pool of 1 items"):
        upper_mean([0, 1], 1, level=0.95)
