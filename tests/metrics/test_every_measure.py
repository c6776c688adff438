"""What every measure of probabilities promises, whatever it measures."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.metrics import (
    CALIBRATION_METRICS,
    SHOWN_METRICS,
    SOFT_LABEL_METRICS,
    brier_parts,
    entropy_ce,
    expected_cost,
    interval,
    risk_at,
    risk_coverage,
)

NUMBERS: dict[str, Any] = {**SHOWN_METRICS, **CALIBRATION_METRICS, "risk_at": risk_at}
K = 3
WITH_TRUTH = NUMBERS | {
    "brier_parts": brier_parts,
    "risk_coverage": risk_coverage,
    "expected_cost": partial(expected_cost, costs=1 - np.eye(K)),
}
WITH_PEOPLE = SOFT_LABEL_METRICS | {"absolute entropy_ce": partial(entropy_ce, absolute=True)}
EVERY = WITH_TRUTH | WITH_PEOPLE
MOST = {"brier": 2.0, "log_loss": 52 * np.log(2)}  # others are at most 1
each = pytest.mark.parametrize("name", EVERY)
quick = settings(deadline=None, max_examples=25)


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes, shares of people and probabilities; some of few values, so that there are ties."""
    n = draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    if draw(st.booleans()):
        probs, human = (rng.multinomial(5, np.ones(K) / K, n) / 5 for _ in range(2))
    else:
        probs, human = (rng.dirichlet(np.full(K, draw(st.sampled_from([0.1, 1, 9]))), n) for _ in range(2))
    return rng.integers(K, size=n), human, probs


def pick(name: str, case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    truth, human, probs = case
    return (human if name in WITH_PEOPLE else truth), probs


@each
@given(cases(), st.integers(0, 1000))
@quick
def test_the_order_of_tasks_does_not_matter(name: str, case, seed: int) -> None:
    truth, probs = pick(name, case)
    o = np.random.default_rng(seed).permutation(len(probs))
    np.testing.assert_allclose(EVERY[name](truth[o], probs[o]), EVERY[name](truth, probs), atol=1e-9)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "ece_debiased"])
@given(cases(), st.integers(0, 1000))
@quick
def test_a_weight_of_two_is_two_equal_tasks_and_of_zero_no_task(name: str, case, seed: int) -> None:
    truth, probs = pick(name, case)
    weight = np.random.default_rng(seed).integers(0 if name != "risk_coverage" else 1, 4, len(probs))
    weight[0] = max(weight[0], 1)
    again = np.repeat(np.arange(len(probs)), weight)
    found = EVERY[name](truth, probs, weight=weight)
    np.testing.assert_allclose(found, EVERY[name](truth[again], probs[again]), atol=1e-9)


@given(cases(), st.integers(0, 1000))
@quick
def test_a_task_without_weight_is_no_task_for_the_debiased_error(case, seed: int) -> None:
    truth, probs = pick("ece_debiased", case)
    kept = np.random.default_rng(seed).random(len(probs)) < 0.7
    kept[0] = True
    metric = EVERY["ece_debiased"]
    assert metric(truth, probs, weight=kept) == pytest.approx(metric(truth[kept], probs[kept]), abs=1e-7)


@each
@given(cases(), st.floats(0.01, 100))
@quick
def test_only_the_ratio_of_weights_matters(name: str, case, factor: float) -> None:
    truth, probs = pick(name, case)
    weight = np.random.default_rng(0).integers(1, 4, len(probs))
    found, scaled = (EVERY[name](truth, probs, weight=w) for w in (weight, weight * factor))
    np.testing.assert_allclose(found, scaled, atol=1e-7)


@pytest.mark.parametrize("name", NUMBERS | WITH_PEOPLE)
@given(cases())
@quick
def test_values_are_within_their_bounds(name: str, case) -> None:
    value = EVERY[name](*pick(name, case))
    if "entropy" in name:
        assert abs(value) <= np.log(K) + 1e-9
    else:
        assert 0 <= value <= MOST.get(name, 1) + 1e-9


@pytest.mark.parametrize("name", NUMBERS)
@given(st.lists(st.integers(0, K - 1), min_size=1, max_size=20))
@quick
def test_certain_and_right_is_no_error_at_all(name: str, truth: list[int]) -> None:
    assert EVERY[name](truth, np.eye(K)[truth]) == 0


@given(cases())
@quick
def test_who_says_what_people_say_is_perfect(case) -> None:
    human = case[1]
    found = {name: metric(human, human) for name, metric in WITH_PEOPLE.items()}
    assert found == {"dist_ce": 0, "entropy_ce": 0, "rank_cs": 1, "absolute entropy_ce": 0}


@each
def test_rows_of_weights_give_a_value_each(name: str) -> None:
    rng = np.random.default_rng(0)
    case = rng.integers(K, size=40), rng.dirichlet(np.ones(K), 40), rng.dirichlet(np.ones(K), 40).round(1)
    case = (*case[:2], case[2] / case[2].sum(axis=1, keepdims=True))
    truth, probs = pick(name, case)
    weight = rng.integers(3, size=(5, 40))
    found = EVERY[name](truth, probs, weight=weight)
    for n, row in enumerate(weight):
        value = [part[n] for part in found] if isinstance(found, tuple) else found[n]
        np.testing.assert_allclose(value, EVERY[name](truth, probs, weight=row))


@each
def test_every_measure_has_an_interval(name: str) -> None:
    rng = np.random.default_rng(1)
    case = rng.integers(K, size=60), rng.dirichlet(np.ones(K), 60), rng.dirichlet(np.ones(K), 60)
    truth, probs = pick(name, case)
    value, low, high = interval(EVERY[name], truth, probs, samples=40)
    np.testing.assert_allclose(value, EVERY[name](truth, probs))
    assert (np.asarray(low) <= np.asarray(high)).all()
    assert type(low) is type(value)


@each
@pytest.mark.parametrize(
    ("probs", "message"),
    [
        ([[0.5, 0.6, 0.1], [0.5, 0.5, 0]], "does not sum to 1"),
        ([[1.5, -0.5, 0], [0.5, 0.5, 0]], "negative"),
        ([[np.nan, 0.5, 0.5], [0.5, 0.5, 0]], "does not sum to 1"),
        ([0.5, 0.5, 0], "shape"),
        ([[1, 0, 0]], "expected"),
    ],
)
def test_what_is_no_probability_is_refused(name: str, probs, message: str) -> None:
    truth = [0, 1] if name in WITH_TRUTH else [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match=message):
        EVERY[name](truth, probs)


@pytest.mark.parametrize("name", WITH_TRUTH)
@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([0, 3], "codes between -1 and 2"),
        ([0.0, np.nan], "codes between -1 and 2"),
        ([-1, -1], "no task has a known class"),
        ([[1, 0, 0], [0, 1, 0]], r"the truth has shape \(2, 3\), expected one code for each task"),
    ],
)
def test_what_is_no_truth_is_refused(name: str, truth, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EVERY[name](truth, np.eye(K)[:2])


@each
@pytest.mark.parametrize("weight", [[1.0], [1, -1], [1, np.nan], [0, 0]])
def test_senseless_weights_are_refused(name: str, weight) -> None:
    truth = [0, 1] if name in WITH_TRUTH else [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ValueError, match="weight"):
        EVERY[name](truth, np.eye(K)[:2], weight=weight)


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_a_class_that_never_occurs_leaves_the_measure_defined(name: str) -> None:
    """The third class has a probability but no task; or it has tasks, but never a probability."""
    for truth, probs in (([0, 1], [[0.6, 0.2, 0.2], [0.1, 0.8, 0.1]]), ([2, 2], [[0.6, 0.4, 0], [0, 1, 0]])):
        assert np.isfinite(np.asarray(EVERY[name](truth, probs))).all()


ONE = {  # of a single task of the second class, of probability 0.3 beside 0.6 and 0.1
    "brier": 0.6**2 + 0.7**2 + 0.1**2, "log_loss": -np.log(0.3), "ece": 0.6, "ece_mass": 0.6,
    "ece_debiased": 0, "ece_sweep": 0.6, "smooth_ece": 0.6, "classwise_ece": (0.6 + 0.7 + 0.1) / 3,
    "mce": 0.6, "aurc": 1, "risk_at": 1, "brier_parts": (0.86, 0, 0, 0),
    "risk_coverage": ([1], [1], [0.6]), "expected_cost": (1, 0.4),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_TRUTH)
def test_a_single_task_has_a_value(name: str) -> None:
    probs = [[0.6, 0.3, 0.1]]
    np.testing.assert_allclose(EVERY[name]([1], probs), ONE[name], atol=1e-9)
    value, low, high = interval(EVERY[name], [1], probs, samples=5)
    np.testing.assert_allclose([low, high], [value, value])


@each
@pytest.mark.parametrize("heavy", [0.1, 1.0, 7.0])
def test_all_weight_on_one_task_is_that_task_alone(name: str, heavy: float) -> None:
    rng = np.random.default_rng(2)
    case = rng.integers(K, size=9), rng.dirichlet(np.ones(K), 9), rng.dirichlet(np.ones(K), 9)
    truth, probs = pick(name, case)
    found = np.asarray(EVERY[name](truth, probs, weight=heavy * np.eye(9)[4]))
    alone = np.asarray(EVERY[name](truth[4:5], probs[4:5]))
    if name == "risk_coverage":  # one point for each confidence: the last is that of all tasks
        np.testing.assert_allclose(found[:2, -1:], alone[:2])
    else:
        np.testing.assert_allclose(found, alone, atol=1e-9)
