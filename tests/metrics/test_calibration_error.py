"""Calibration errors agree with their definitions and with other implementations."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.metrics import classwise_ece, ece, ece_debiased, ece_mass, ece_sweep, interval, mce

# Labels of 60 tasks, 12 of each of five confidences.
RIGHT = np.array([int(c) for c in "000110011001000010010101001001011111011110110111101110101111"])
FIVE = np.repeat([0.55, 0.65, 0.75, 0.85, 0.95], 12)


def two_classes(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Truth and probabilities of tasks whose label, the first class, is so sure and right or not."""
    return 1 - np.asarray(right, int), np.stack([confidence, 1 - np.asarray(confidence)], axis=1)


def calibrated(n: int, seed: int, K: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(K, 0.5), n)
    return (probs.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), probs


@st.composite
def predictions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    K, n = draw(st.integers(2, 5)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    probs = rng.dirichlet(np.full(K, draw(st.sampled_from([0.05, 1.0, 20.0]))), n)
    return rng.integers(K, size=n), probs, rng.uniform(0.1, 3, n)


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


def test_ece_is_small_when_probabilities_are_calibrated_and_large_when_not() -> None:
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


@given(predictions(), st.sampled_from([1, 10, 15]))
@settings(deadline=None)
def test_mce_is_the_largest_gap_of_a_bin(case, bins: int) -> None:
    truth, probs, weight = case
    confidence, right = probs.max(axis=1), probs.argmax(axis=1) == truth
    gaps = []
    for m in range(bins):
        inside = (confidence > m / bins) & (confidence <= (m + 1) / bins)
        if inside.any():
            gaps.append(abs(np.average((right - confidence)[inside], weights=weight[inside])))
    assert mce(truth, probs, weight=weight, bins=bins) == pytest.approx(max(gaps))


@given(predictions(), st.sampled_from([1, 10, 15]))
@settings(deadline=None)
def test_classwise_ece_is_the_mean_over_classes_of_their_binned_gaps(case, bins: int) -> None:
    truth, probs, weight = case
    total = 0.0
    for k, p in enumerate(probs.T):
        for m in range(bins):
            inside = (p > m / bins) & (p <= (m + 1) / bins) | ((m == 0) & (p == 0))
            total += abs((weight * ((truth == k) - p))[inside].sum()) / weight.sum()
    expected = total / probs.shape[1]
    assert classwise_ece(truth, probs, weight=weight, bins=bins) == pytest.approx(expected)


def test_of_two_classes_the_classwise_error_sees_the_second_half_of_the_scale_too() -> None:
    """Both columns of one bin each: confidence and its rest err by the same."""
    truth, probs = two_classes(FIVE, RIGHT)
    assert classwise_ece(truth, probs) == pytest.approx(ece(truth, probs))


def test_equal_mass_bins_hold_equally_many_tasks() -> None:
    """The value is that of `calibration.utils.get_ece_em` of uncertainty-calibration 0.1.4."""
    rng = np.random.default_rng(6)
    confidence = 0.5 + 0.5 * rng.random(60)
    case = two_classes(confidence, rng.random(60) < confidence**2)
    assert ece_mass(*case, bins=5) == pytest.approx(0.26811960144574987)
    assert ece_mass(*case, bins=15) == pytest.approx(0.27985458627494364)


def test_equal_confidences_stay_in_one_bin() -> None:
    """Cut in two halves, tasks of one confidence would depend on their order."""
    confidence, right = [0.6] * 3 + [0.9] * 5, [1, 0, 0, 1, 1, 0, 0, 1]
    expected = (abs(1 - 3 * 0.6) + abs(3 - 5 * 0.9)) / 8
    for seed in range(5):
        o = np.random.default_rng(seed).permutation(8)
        case = two_classes(np.array(confidence)[o], np.array(right)[o])
        assert ece_mass(*case, bins=2) == pytest.approx(expected)
        assert ece_mass(*case, bins=100) == pytest.approx(expected)


def test_the_debiased_error_is_that_of_kumar_liang_and_ma() -> None:
    """The value is that of `calibration.utils.unbiased_l2_ce` of uncertainty-calibration 0.1.4."""
    assert ece_debiased(*two_classes(FIVE, RIGHT), bins=5) == pytest.approx(0.13953385599809445)


def test_the_debiased_error_is_the_mean_product_of_the_gaps_of_two_tasks() -> None:
    confidence, right, w = [0.6, 0.7, 0.9], [0, 0, 1], [1.0, 2.0, 3.0]
    r = np.subtract(confidence, right)
    pairs = [(0, 1), (0, 2), (1, 2)]
    square = sum(w[i] * w[j] * r[i] * r[j] for i, j in pairs) / sum(w[i] * w[j] for i, j in pairs)
    found = ece_debiased(*two_classes(confidence, right), weight=w, bins=1)
    assert found == pytest.approx(np.sqrt(square))


def test_the_square_of_the_debiased_error_has_no_bias() -> None:
    """Of a model that is always 0.1 too sure the mean of the squares is 0.01, with 20 tasks a time."""
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.6, 1, (4000, 20))
    right = rng.random(confidence.shape) < confidence - 0.1
    gap = confidence - right
    plain, pairs = gap.mean(axis=1) ** 2, []
    for c, hit in zip(confidence[:400], right[:400], strict=True):
        pairs.append(ece_debiased(*two_classes(c, hit), bins=1) ** 2)
    square = (gap.sum(axis=1) ** 2 - (gap**2).sum(axis=1)) / (20 * 19)
    np.testing.assert_allclose(pairs, np.maximum(square[:400], 0), atol=1e-12)
    assert square.mean() == pytest.approx(0.01, abs=0.001)
    assert plain.mean() > 0.016


def test_zero_is_in_the_interval_of_calibrated_probabilities_only_without_the_bias() -> None:
    """Of 100 tasks whose probabilities are the truth: always for the debiased error, never for ECE."""
    repetitions = 60
    low = {ece: [], ece_debiased: [], ece_mass: []}
    for seed in range(repetitions):
        truth, probs = calibrated(100, seed)
        for metric, found in low.items():
            found.append(interval(metric, truth, probs, samples=200, seed=seed).low)
    assert np.mean(np.equal(low[ece_debiased], 0)) >= 0.95
    assert min(low[ece]) > 0
    assert min(low[ece_mass]) > 0


def test_miscalibrated_probabilities_keep_zero_out_of_the_interval() -> None:
    outside = 0
    for seed in range(30):
        truth, probs = calibrated(300, seed)
        sharp = probs**5 / (probs**5).sum(axis=1, keepdims=True)
        outside += interval(ece_debiased, truth, sharp, samples=200).low > 0
    assert outside >= 27


def sweep(confidence: np.ndarray, right: np.ndarray) -> float:
    """The definition, task by task, for distinct confidences."""
    o = np.argsort(confidence)
    confidence, right = confidence[o], right[o]
    n, last = len(o), None
    for b in range(1, n + 1):
        which = ((np.arange(n) + 0.5) * b / n + 1e-9).astype(int)
        accuracy = [right[which == m].mean() for m in range(b)]
        if (np.diff(accuracy) < 0).any():
            break
        last = sum(abs((right - confidence)[which == m].sum()) for m in range(b)) / n
    return float(last)


@given(st.integers(1, 60), st.integers(0, 10_000), st.sampled_from([0.3, 1, 3]))
@settings(deadline=None)
def test_the_sweep_ends_before_the_accuracy_falls(n: int, seed: int, power: float) -> None:
    rng = np.random.default_rng(seed)
    confidence = 0.5 + 0.5 * rng.random(n)
    right = rng.random(n) < confidence**power
    assert ece_sweep(*two_classes(confidence, right)) == pytest.approx(sweep(confidence, right), abs=1e-9)


def test_the_sweep_stops_at_the_most_bins_allowed() -> None:
    confidence = np.linspace(0.51, 0.99, 20)
    right = confidence > 0.75
    case = two_classes(confidence, right)
    assert ece_sweep(*case, max_bins=1) == pytest.approx(ece(*case, bins=1))
    assert ece_sweep(*case, max_bins=2) == pytest.approx(ece_mass(*case, bins=2))
    assert ece_sweep(*case) == pytest.approx(np.abs(right - confidence).mean())


@pytest.mark.parametrize(
    "metric", [ece, ece_mass, ece_debiased, mce, classwise_ece, partial(ece_sweep, max_bins=0)]
)
def test_less_than_one_bin_is_refused(metric) -> None:
    options = {} if isinstance(metric, partial) else {"bins": 0}
    with pytest.raises(ValueError, match="bins is 0, expected 1 or more"):
        metric([0, 1], np.eye(2), **options)
