"""Intervals hold the truth as often as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from crowdpilot.metrics import (
    LABEL_METRICS,
    METRICS,
    SHOWN_METRICS,
    accuracy,
    brier,
    brier_parts,
    dist_ce,
    ece,
    interval,
    log_loss,
    per_class,
    risk_coverage,
)
from crowdpilot.metrics.bootstrap import resample


def predict(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet([0.5, 1.0, 2.0], n)
    return (probs.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), probs


@pytest.mark.parametrize("name", LABEL_METRICS | SHOWN_METRICS)
def test_the_value_is_that_of_the_metric_and_lies_inside(name: str) -> None:
    metric = (LABEL_METRICS | SHOWN_METRICS)[name]
    truth, probs = predict(400, seed=1)
    predicted = probs if name in SHOWN_METRICS else probs.argmax(axis=1)
    value, low, high = interval(metric, truth, predicted, samples=300)
    assert value == pytest.approx(metric(truth, predicted))
    assert low < high
    if not name.endswith("ece"):  # drawing again adds noise, which moves tasks away from their calibration
        assert low <= value < high


def test_the_interval_of_accuracy_is_that_of_the_binomial_law() -> None:
    truth, labels = np.zeros(500, int), np.repeat([0, 1], [400, 100])
    found = interval(accuracy, truth, labels, samples=20_000)
    np.testing.assert_allclose(found[1:], binom.ppf([0.025, 0.975], 500, 0.8) / 500, atol=0.002)


def test_the_interval_of_a_mean_is_that_of_the_normal_law() -> None:
    truth, probs = predict(2000, seed=0)
    found = interval(brier, truth, probs, samples=2000)
    loss = np.array([brier(truth[n : n + 1], probs[n : n + 1]) for n in range(2000)])
    width = 2 * 1.96 * loss.std() / np.sqrt(2000)
    assert found.high - found.low == pytest.approx(width, rel=0.08)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "macro_f1", "brier", "log_loss"])
def test_intervals_cover_the_true_value(name: str) -> None:
    truth, probs = predict(200_000, seed=3)
    metric = METRICS[name]
    predicted = probs.argmax(axis=1) if name in LABEL_METRICS else probs
    value = metric(truth, predicted)
    parts = [slice(n, n + 200) for n in range(0, 40_000, 200)]
    found = [interval(metric, truth[p], predicted[p], level=0.9, samples=200, seed=p.start) for p in parts]
    covered = np.mean([low <= value <= high for _, low, high in found])
    assert 0.84 < covered < 0.95


def test_a_higher_level_is_wider() -> None:
    truth, probs = predict(300, seed=2)
    narrow = interval(ece, truth, probs, level=0.5, samples=200)
    wide = interval(ece, truth, probs, level=0.95, samples=200)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_seed_decides_the_interval() -> None:
    truth, probs = predict(300, seed=2)
    assert interval(brier, truth, probs, samples=50) == interval(brier, truth, probs, samples=50)
    assert interval(brier, truth, probs, samples=50) != interval(brier, truth, probs, samples=50, seed=1)


def test_many_tasks_are_drawn_in_parts(monkeypatch) -> None:
    monkeypatch.setattr("crowdpilot.metrics.bootstrap.MAX_WEIGHTS_PER_BLOCK", 1000)
    truth, probs = predict(300, seed=2)
    found = interval(brier, truth, probs, samples=100)
    assert found.low < found.value < found.high


def test_unknown_tasks_are_not_drawn() -> None:
    truth, labels = np.repeat([0, 1, -1], [40, 20, 500]), np.zeros(560, int)
    assert interval(accuracy, truth, labels) == interval(accuracy, truth[:60], labels[:60])


def test_a_measure_of_every_class_has_an_interval_for_each() -> None:
    truth, probs = predict(500, seed=5)
    labels = np.array(["a", "b", "c"])[probs.argmax(axis=1)]
    names = np.array(["a", "b", "c"])[truth]
    found = interval(lambda t, p, weight: per_class(t, p, weight=weight).recall, names, labels, samples=300)
    np.testing.assert_allclose(found.value, per_class(names, labels).recall)
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()


@pytest.mark.parametrize(("level", "samples"), [(0.0, 10), (1.0, 10), (95, 10), (0.9, 0)])
def test_a_senseless_level_is_refused(level: float, samples: int) -> None:
    with pytest.raises(ValueError, match="expected a share and 1 or more"):
        interval(accuracy, [0, 1], [0, 1], level=level, samples=samples)


def test_groups_that_are_drawn_apart_keep_their_numbers() -> None:
    seen = []

    def value(count: np.ndarray) -> np.ndarray:
        seen.append(count)
        return count @ np.arange(7.0)

    table = np.array([[0, 3.0, 2], [4, 1, 1]])
    resample(value, np.array([5.0]), table, samples=40)
    drawn = np.concatenate([np.atleast_2d(count) for count in seen])
    assert drawn.shape == (41, 7)
    np.testing.assert_array_equal(drawn[:, 0], 5)
    np.testing.assert_array_equal(drawn[:, 1], 0)
    np.testing.assert_array_equal(drawn[:, 1:4].sum(axis=1), 5)
    np.testing.assert_array_equal(drawn[:, 4:].sum(axis=1), 6)
    assert len(np.unique(drawn, axis=0)) > 20


def test_what_is_undefined_is_left_out() -> None:
    found = resample(lambda count: np.where(count[..., 0] > 3, count[..., 0], np.nan), np.array([5.0, 5]))
    assert found.low == 4
    nothing = resample(lambda count: np.full(count.shape, np.nan), np.array([5.0, 5]))
    assert np.isnan([nothing.low, nothing.high]).all()


def test_a_named_tuple_has_an_interval_for_each_part() -> None:
    truth, probs = predict(300, seed=4)
    found = interval(brier_parts, truth, probs, samples=50)
    assert found.value == pytest.approx(brier_parts(truth, probs))
    alone = interval(
        lambda *args, weight: brier_parts(*args, weight=weight).resolution, truth, probs, samples=50
    )
    assert found.low.resolution == alone.low
    assert found.high.resolution == alone.high


def test_a_named_tuple_of_arrays_has_one_too() -> None:
    truth, probs = predict(40, seed=4)
    found = interval(risk_coverage, truth, probs, samples=50)
    np.testing.assert_array_equal(found.value.risk, risk_coverage(truth, probs).risk)
    assert found.low.coverage.shape == (40,)
    assert found.low.coverage[20] < found.value.coverage[20] < found.high.coverage[20]


def test_shares_of_people_stand_in_for_the_truth() -> None:
    rng = np.random.default_rng(0)
    human, probs = rng.dirichlet([1, 1, 1], 200), rng.dirichlet([1, 1, 1], 200)
    found = interval(dist_ce, human, probs, samples=500)
    loss = np.abs(human - probs).sum(axis=1) / 2
    assert found.value == pytest.approx(loss.mean())
    assert found.high - found.low == pytest.approx(2 * 1.96 * loss.std() / np.sqrt(200), rel=0.15)


@pytest.mark.parametrize("metric", [brier, log_loss, ece])
def test_of_many_tasks_some_are_resampled_and_the_bounds_are_those_of_all(metric: Any) -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([0.5] * 3, 40_000)
    truth = (probs.cumsum(axis=1) > rng.random((40_000, 1))).argmax(axis=1)
    value, low, high = interval(metric, truth, probs, samples=300)
    every = resample(lambda weight: metric(truth, probs, weight=weight), np.ones(40_000), samples=300)
    assert value == pytest.approx(metric(truth, probs))
    assert [low, high] == pytest.approx([every.low, every.high], abs=0.25 * (every.high - every.low))
