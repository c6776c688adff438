"""Flags that keep the rate of false ones below a bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm

from crowdpilot.diagnosis.false_discovery_rate import (
    benjamini_hochberg,
    e_benjamini_hochberg,
    flag_by_posterior,
)

rates = st.floats(0.01, 0.5)
odd = st.one_of(st.floats(0, 1), st.just(float("nan")))


@settings(deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30), rate=rates)
def test_p_values_are_flagged_as_scipy_does(p: list[float], rate: float) -> None:
    adjusted = false_discovery_control(p)
    assume(np.abs(adjusted - rate).min() > 1e-9)
    np.testing.assert_array_equal(benjamini_hochberg(np.array(p), rate), adjusted <= rate)


@settings(deadline=None)
@given(e=st.lists(st.floats(0, 1e6), min_size=1, max_size=30), rate=rates)
def test_e_values_are_flagged_by_their_definition(e: list[float], rate: float) -> None:
    """The largest k such that k e-values are at least n / (k rate)."""
    n, ordered = len(e), sorted(e, reverse=True)
    passing = [k for k in range(1, n + 1) if ordered[k - 1] * k * rate >= n]
    found = e_benjamini_hochberg(np.array(e), rate)
    assert found.sum() == max(passing, default=0)
    assert found[np.argsort(e)[::-1]].tolist() == sorted(found.tolist(), reverse=True) or len(set(e)) < n


@settings(deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30), rate=rates)
def test_probabilities_are_flagged_by_their_definition(p: list[float], rate: float) -> None:
    """The largest set of the highest whose complements have a mean below the rate."""
    ordered = np.sort(p)[::-1]
    means = [(1 - ordered[:k]).mean() for k in range(1, len(p) + 1)]
    assume(np.abs(np.array(means) - rate).min() > 1e-9)
    expected = sum(mean <= rate and low > 0.5 for mean, low in zip(means, ordered, strict=True))
    found = flag_by_posterior(np.array(p), rate)
    assert found.sum() == expected
    if expected:
        assert np.array(p)[found].min() >= max(np.array(p)[~found], default=0)


@pytest.mark.parametrize("rule", [benjamini_hochberg, e_benjamini_hochberg, flag_by_posterior])
@settings(deadline=None)
@given(values=st.lists(odd, max_size=12))
def test_what_is_unknown_is_never_flagged_and_does_not_count(rule, values: list[float]) -> None:
    array = np.array(values, float)
    known = np.isfinite(array)
    np.testing.assert_array_equal(rule(array, 0.3)[known], rule(array[known], 0.3))
    assert not rule(array, 0.3)[~known].any()


@pytest.mark.parametrize("rule", [benjamini_hochberg, e_benjamini_hochberg, flag_by_posterior])
def test_nobody_is_flagged_when_there_is_nobody(rule) -> None:
    assert rule(np.array([]), 0.1).tolist() == []
    assert rule(np.array([np.nan, np.nan]), 0.1).tolist() == [False, False]


def test_an_infinite_e_value_is_the_strongest_evidence() -> None:
    assert e_benjamini_hochberg(np.array([np.inf, 1.0, 0.0]), 0.05).tolist() == [True, False, False]


def false_share(flags: np.ndarray, true: np.ndarray) -> float:
    return (flags & ~true).sum() / max(flags.sum(), 1)


@pytest.mark.parametrize("real", [0, 10])
def test_few_flags_are_false(real: int) -> None:
    """200 times 100 tests, of which some are real and all rate part of their noise."""
    rng = np.random.default_rng(0)
    true = np.arange(100) < real
    shares: dict[str, list[float]] = {"p": [], "e": []}
    for _ in range(200):
        z = 4.0 * true + 0.8 * rng.standard_normal(100) + 0.6 * rng.standard_normal()
        shares["p"].append(false_share(benjamini_hochberg(norm.sf(z), 0.1), true))
        shares["e"].append(false_share(e_benjamini_hochberg(np.exp(4 * z - 8), 0.1), true))
    assert np.mean(shares["p"]) < 0.13
    assert np.mean(shares["e"]) < 0.1


def test_honest_probabilities_hold_what_they_promise() -> None:
    rng = np.random.default_rng(1)
    shares, found = [], 0
    for _ in range(200):
        p = rng.beta(0.3, 0.6, 100)
        true = rng.random(100) < p
        flags = flag_by_posterior(p, 0.1)
        found += int((flags & true).sum())
        shares.append(false_share(flags, true))
    assert np.mean(shares) < 0.11
    assert found > 200 * 10
