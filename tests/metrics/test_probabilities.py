"""Probability metrics agree with scikit-learn's, and with their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from crowdpilot.metrics import PROBABILITY_METRICS, brier, ece, log_loss


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


@given(predictions(), st.sampled_from([1, 10, 15]))
@settings(deadline=None)
def test_ece_is_the_gap_in_each_bin_times_its_share(case, bins: int) -> None:
    truth, probs, weight = case
    confidence, right = probs.max(axis=1), probs.argmax(axis=1) == truth
    total = 0.0
    for m in range(bins):
        inside = (confidence > m / bins) & (confidence <= (m + 1) / bins)
        if inside.any():
            gap = np.average(right[inside], weights=weight[inside]) - np.average(
                confidence[inside], weights=weight[inside]
            )
            total += abs(gap) * weight[inside].sum() / weight.sum()
    assert ece(truth, probs, weight=weight, bins=bins) == pytest.approx(total, abs=1e-9)


def test_certain_and_right_is_perfect() -> None:
    for metric in PROBABILITY_METRICS.values():
        assert metric([0, 1, 2], np.eye(3)) == 0


def test_certain_and_wrong_is_as_bad_as_can_be_but_finite() -> None:
    assert brier([1, 0], np.eye(2)) == 2
    assert ece([1, 0], np.eye(2)) == 1
    assert log_loss([1, 0], np.eye(2)) == pytest.approx(52 * np.log(2))
    assert log_loss([1, 0], np.eye(2), floor=0.01) == pytest.approx(-np.log(0.01))


def test_ece_is_small_when_probabilities_are_honest_and_large_when_not() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([0.5] * 3, 20_000)
    truth = (probs.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    sharper = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    assert ece(truth, probs) < 0.02
    assert ece(truth, sharper) > 0.08


@pytest.mark.parametrize(("first", "second", "together"), [(1.0, 0.75, True), (0.75, 0.5, False)])
def test_a_bin_of_ece_holds_its_upper_end(first: float, second: float, together: bool) -> None:
    """In one bin a wrong and a right label make up for each other, in two they do not."""
    gaps = np.array([0 - first, 1 - second])
    found = ece([1, 0], [[first, 1 - first], [second, 1 - second]], bins=2)
    assert found == pytest.approx(abs(gaps.sum()) / 2 if together else abs(gaps).sum() / 2)


def test_fifteen_bins_unless_asked_otherwise() -> None:
    probs = np.array([[0.61, 0.39], [0.66, 0.34], [0.68, 0.32]])
    assert ece([0, 1, 0], probs) == ece([0, 1, 0], probs, bins=15) != ece([0, 1, 0], probs, bins=10)
    with pytest.raises(ValueError, match="bins is 0"):
        ece([0, 1, 0], probs, bins=0)


@pytest.mark.parametrize("metric", PROBABILITY_METRICS.values(), ids=PROBABILITY_METRICS)
def test_rows_of_weights_give_a_value_each(metric) -> None:
    rng = np.random.default_rng(0)
    truth, probs, weight = rng.integers(4, size=30), rng.dirichlet(np.ones(4), 30), rng.random((5, 30))
    expected = [metric(truth, probs, weight=row) for row in weight]
    np.testing.assert_allclose(metric(truth, probs, weight=weight), expected)
    assert type(metric(truth, probs)) is float
