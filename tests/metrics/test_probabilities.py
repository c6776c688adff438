"""Probability metrics agree with scikit-learn's, and with their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from crowdpilot.metrics import PROBABILITY_METRICS, brier, brier_parts, ece, log_loss


@st.composite
def predictions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    K, n = draw(st.integers(2, 5)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    probs = rng.dirichlet(np.full(K, draw(st.sampled_from([0.05, 1.0, 20.0]))), n)
    return rng.integers(K, size=n), probs, rng.uniform(0.1, 3, n)


@given(predictions())
@settings(deadline=None)
def test_brier_agrees_with_sklearn(case) -> None:
    truth, probs, weight = case
    labels = np.arange(probs.shape[1])
    expected = sklearn.brier_score_loss(
        truth, probs, sample_weight=weight, labels=labels, scale_by_half=False
    )
    assert brier(truth, probs, weight=weight) == pytest.approx(expected)


@given(predictions())
@settings(deadline=None)
def test_log_loss_agrees_with_sklearn(case) -> None:
    truth, probs, weight = case
    expected = sklearn.log_loss(truth, probs, sample_weight=weight, labels=np.arange(probs.shape[1]))
    assert log_loss(truth, probs, weight=weight) == pytest.approx(expected)


def test_certain_and_right_is_perfect() -> None:
    for metric in PROBABILITY_METRICS.values():
        assert metric([0, 1, 2], np.eye(3)) == 0


def test_certain_and_wrong_is_as_bad_as_can_be_but_finite() -> None:
    assert brier([1, 0], np.eye(2)) == 2
    assert ece([1, 0], np.eye(2)) == 1
    assert log_loss([1, 0], np.eye(2)) == pytest.approx(52 * np.log(2))
    assert log_loss([1, 0], np.eye(2), floor=0.01) == pytest.approx(-np.log(0.01))


@pytest.mark.parametrize("metric", PROBABILITY_METRICS.values(), ids=PROBABILITY_METRICS)
def test_rows_of_weights_give_a_value_each(metric) -> None:
    rng = np.random.default_rng(0)
    truth, probs, weight = rng.integers(4, size=30), rng.dirichlet(np.ones(4), 30), rng.random((5, 30))
    expected = [metric(truth, probs, weight=row) for row in weight]
    np.testing.assert_allclose(metric(truth, probs, weight=weight), expected)
    assert type(metric(truth, probs)) is float


@given(predictions(), st.sampled_from([1, 4, 15]))
@settings(deadline=None)
def test_the_parts_of_the_brier_score_are_those_of_their_definition(case, bins: int) -> None:
    truth, probs, weight = case
    w = weight / weight.sum()
    parts = np.zeros(4)
    for k, p in enumerate(probs.T):
        hit = (truth == k).astype(float)
        base = w @ hit
        parts[2] += base * (1 - base)
        for m in range(bins):
            i = (p > m / bins) & (p <= (m + 1) / bins) | ((m == 0) & (p == 0))
            if i.any():
                share, mean, seen = (
                    w[i].sum(),
                    np.average(p[i], weights=w[i]),
                    np.average(hit[i], weights=w[i]),
                )
                parts[0] += share * (mean - seen) ** 2
                parts[1] += share * (seen - base) ** 2
                parts[3] += w[i] @ ((p[i] - mean) ** 2 - 2 * (p[i] - mean) * (hit[i] - seen))
    found = brier_parts(truth, probs, weight=weight, bins=bins)
    np.testing.assert_allclose(found, parts, atol=1e-9)
    total = found.reliability - found.resolution + found.uncertainty + found.within
    assert total == pytest.approx(brier(truth, probs, weight=weight))


def test_three_parts_are_the_whole_brier_score_if_bins_hold_one_probability_each() -> None:
    """Murphy's decomposition is exact for probabilities of few values."""
    rng = np.random.default_rng(0)
    tenths = rng.multinomial(10, [0.5, 0.3, 0.2], 200) / 10
    parts = brier_parts(rng.integers(3, size=200), tenths, bins=20)
    assert parts.within == pytest.approx(0, abs=1e-12)


def test_calibrated_and_sharp_probabilities_have_no_reliability_and_all_the_resolution() -> None:
    assert brier_parts([0, 1, 2, 1], np.eye(3)[[0, 1, 2, 1]]) == pytest.approx((0, 0.625, 0.625, 0))
    base = np.tile([0.25, 0.5, 0.25], (4, 1))
    assert brier_parts([0, 1, 2, 1], base) == pytest.approx((0, 0, 0.625, 0))
