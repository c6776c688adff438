"""How often experts err is bounded by second opinions."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.audit.expert_errors import disagreement_upper, expert_error_bound, loss_with_misses


def test_the_bound_holds_at_all_times_of_a_path() -> None:
    rng = np.random.default_rng(0)
    failed = 0
    for _ in range(100):
        differ = np.cumsum(rng.random(150) < 0.1)
        failed += any(disagreement_upper(n, int(differ[n - 1]), 0.1) < 0.1 for n in range(1, 151, 3))
    assert failed <= 10


def test_the_error_of_experts_is_half_of_their_disagreement_if_it_is_small() -> None:
    assert expert_error_bound(0, 0, level=0.95) == 0.5
    assert 0.02 < expert_error_bound(20_000, 800, level=0.95) < 0.025


def test_experts_who_never_err_miss_a_fixed_number_at_most() -> None:
    assert 10 < loss_with_misses(10, 1, 0.0, 0.05) < 13
    assert loss_with_misses(10, 1, 0.8, 0.05) == np.inf


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="3 disagreements in 2 pairs"):
        expert_error_bound(2, 3, level=0.95)


def test_the_allowance_is_rarely_too_small() -> None:
    rng = np.random.default_rng(0)
    loss = rng.choice([1.0, 5.0], 60)
    reported = ((rng.random((2000, 60)) > 0.15) * loss).sum(axis=1)
    bounds = np.array([loss_with_misses(total, 5.0, 0.15, 0.1) for total in reported])
    assert (bounds < loss.sum()).mean() <= 0.1
    assert np.median(bounds) < 1.5 * loss.sum()
