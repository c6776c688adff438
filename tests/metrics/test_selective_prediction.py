"""Costs of decisions, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.metrics import accuracy, aurc, expected_cost, risk_at, risk_coverage

CONFIDENCE = np.array([0.95, 0.9, 0.8, 0.8, 0.6])
RIGHT = np.array([1, 0, 1, 0, 0])
TRUTH, PROBS = 1 - RIGHT, np.stack([CONFIDENCE, 1 - CONFIDENCE], axis=1)


def test_the_curve_keeps_equal_confidences_together() -> None:
    curve = risk_coverage(TRUTH, PROBS)
    np.testing.assert_allclose(curve.confidence, [0.95, 0.9, 0.8, 0.6])
    np.testing.assert_allclose(curve.coverage, [0.2, 0.4, 0.8, 1])
    np.testing.assert_allclose(curve.risk, [0, 1 / 2, 2 / 4, 3 / 5])


def test_the_area_is_the_mean_risk_over_tasks() -> None:
    assert aurc(TRUTH, PROBS) == pytest.approx((0 + 1 / 2 + 2 * 2 / 4 + 3 / 5) / 5)


@given(st.integers(1, 40), st.integers(0, 10_000))
@settings(deadline=None)
def test_without_ties_the_area_is_that_of_geifman(n: int, seed: int) -> None:
    """The mean over k of the share of wrong ones among the k surest."""
    rng = np.random.default_rng(seed)
    confidence, right = 0.5 + rng.random(n) / 2, rng.random(n) < 0.7
    wrong = ~right[np.argsort(-confidence)]
    expected = np.mean([wrong[: k + 1].mean() for k in range(n)])
    probs = np.stack([confidence, 1 - confidence], axis=1)
    assert aurc(1 - right.astype(int), probs) == pytest.approx(expected)


def test_a_confidence_that_is_always_the_same_has_the_share_of_wrong_labels_as_its_area() -> None:
    assert aurc([0, 0, 1, 0], [[0.7, 0.3]] * 4) == pytest.approx(0.25)


def test_a_rising_map_of_the_confidence_changes_no_area() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(2), 200)
    sharper = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    truth = rng.integers(2, size=200)
    assert aurc(truth, probs) == pytest.approx(aurc(truth, sharper))


def test_before_the_first_weight_there_is_no_risk_to_tell() -> None:
    curve = risk_coverage(TRUTH, PROBS, weight=[0, 1, 1, 1, 1])
    assert np.isnan(curve.risk[0])
    np.testing.assert_allclose(curve.risk[1:], [1, 2 / 3, 3 / 4])
    assert aurc(TRUTH, PROBS, weight=[0, 1, 1, 1, 1]) == pytest.approx((1 + 2 * 2 / 3 + 3 / 4) / 4)


@pytest.mark.parametrize(("coverage", "expected"), [(0.1, 0), (0.2, 0), (0.3, 0.5), (0.5, 0.5), (1.0, 0.6)])
def test_the_risk_at_a_coverage_is_that_of_the_least_part_that_covers_it(coverage, expected) -> None:
    assert risk_at(TRUTH, PROBS, coverage=coverage) == pytest.approx(expected)


def test_the_risk_at_full_coverage_is_the_share_of_wrong_labels() -> None:
    assert risk_at(TRUTH, PROBS, coverage=1) == pytest.approx(1 - accuracy(TRUTH, PROBS.argmax(axis=1)))


@pytest.mark.parametrize("coverage", [0, -1, 1.1, float("nan")])
def test_a_coverage_that_is_no_share_is_refused(coverage: float) -> None:
    with pytest.raises(ValueError, match="expected a share above 0"):
        risk_at(TRUTH, PROBS, coverage=coverage)


def test_if_all_mistakes_cost_one_the_cost_is_the_share_of_wrong_labels() -> None:
    rng = np.random.default_rng(0)
    probs, truth = rng.dirichlet(np.ones(4), 100), rng.integers(4, size=100)
    found = expected_cost(truth, probs, 1 - np.eye(4))
    assert found.actual == pytest.approx(1 - accuracy(truth, probs.argmax(axis=1)))
    assert found.expected == pytest.approx(1 - probs.max(axis=1).mean())


def test_costs_decide_and_not_the_most_probable_class_alone() -> None:
    """To miss the second class costs 10: at 0.9 to 0.1 the decisions cost 1 and 0.9."""
    costs = [[0, 1], [10, 0]]
    assert expected_cost([0, 1], [[0.9, 0.1], [0.95, 0.05]], costs) == pytest.approx((5.5, 0.7))


def test_there_may_be_more_decisions_than_classes() -> None:
    """To ask an expert costs 0.3 whatever is true, and pays for the second task alone."""
    costs = [[0, 1, 0.3], [1, 0, 0.3]]
    assert expected_cost([0, 0], [[0.9, 0.1], [0.4, 0.6]], costs) == pytest.approx((0.15, 0.2))


def test_calibrated_probabilities_expect_the_actual_cost_and_overconfident_ones_less() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(3), 20_000)
    truth = (probs.cumsum(axis=1) > rng.random((20_000, 1))).argmax(axis=1)
    costs = rng.uniform(1, 5, (3, 3)) * (1 - np.eye(3))
    actual, expected = expected_cost(truth, probs, costs)
    assert actual == pytest.approx(expected, rel=0.02)
    overconfident = probs**4 / (probs**4).sum(axis=1, keepdims=True)
    actual, expected = expected_cost(truth, overconfident, costs)
    assert expected < 0.6 * actual


@pytest.mark.parametrize("costs", [[0, 1], np.eye(3), np.zeros((2, 0)), [[0, np.nan], [1, 0]]])
def test_costs_that_fit_no_class_are_refused(costs) -> None:
    with pytest.raises(ValueError, match="expected a finite number for each of 2 classes"):
        expected_cost([0, 1], np.eye(2), costs)
