"""What every map promises."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.calibration import MAPS, Best, NoMap, find_map, load_map
from tests.calibration.conftest import honest, normalized

ALL = [pytest.param(M(), id=name) for name, M in MAPS.items()]
EXACT = [pytest.param(M(), id=name) for name, M in MAPS.items() if M is not Best]  # its folds are drawn
SMOOTH = ["none", "temperature", "platt", "vector", "beta", "matrix", "dirichlet"]


def loss(probs, truth) -> float:
    return float(-np.log(probs[np.arange(len(truth)), truth]).mean())


@st.composite
def samples(draw: st.DrawFn):
    """Any probabilities, zeros and ones among them, and any classes."""
    K, n = draw(st.integers(2, 4)), draw(st.integers(2, 12))
    seed, shape = draw(st.integers(0, 10_000)), draw(st.sampled_from([0.001, 0.05, 1.0, 50.0]))
    rng = np.random.default_rng(seed)
    probs = normalized(rng.dirichlet(np.full(K, shape), n + 5) + 1e-300)
    return probs[:n], rng.integers(-1, K, n), probs


@pytest.mark.parametrize("model", ALL)
@given(case=samples())
@settings(deadline=None, max_examples=25)
def test_rows_sum_to_one_and_nothing_is_impossible_or_certain(model, case) -> None:
    probs, truth, new = case
    truth[:2] = 0
    mapped = model.fit(probs, truth)(new)
    np.testing.assert_allclose(mapped.sum(axis=1), 1)
    assert (mapped > 0).all()
    assert (mapped < 1).all()


@pytest.mark.parametrize("model", ALL)
def test_one_hot_labels_are_codes(model, too_sure) -> None:
    probs, truth = too_sure
    soft = np.eye(probs.shape[1])[truth]
    np.testing.assert_array_equal(model.fit(probs, soft)(probs), model.fit(probs, truth)(probs))


@pytest.mark.parametrize("model", ALL)
def test_tasks_of_unknown_class_are_left_out(model, too_sure) -> None:
    probs, truth = too_sure
    expected = model.fit(probs[:200], truth[:200])(probs)
    hidden = np.append(truth[:200], np.full(100, -1))
    np.testing.assert_array_equal(model.fit(probs, hidden)(probs), expected)
    soft = np.eye(probs.shape[1])[truth] * (np.arange(300) < 200)[:, None]
    np.testing.assert_array_equal(model.fit(probs, soft)(probs), expected)
    weight = (np.arange(300) < 200) * 1.0
    np.testing.assert_array_equal(model.fit(probs, truth, weight=weight)(probs), expected)


@pytest.mark.parametrize("model", EXACT)
def test_a_weight_of_two_is_a_task_twice(model, too_sure) -> None:
    probs, truth = (part[:100] for part in too_sure)
    weight = np.where(np.arange(100) < 40, 2, 1)
    twice = np.repeat(np.arange(100), weight)
    expected = model.fit(probs[twice], truth[twice])(probs)
    np.testing.assert_allclose(model.fit(probs, truth, weight=weight)(probs), expected, atol=2e-5)


@pytest.mark.parametrize("model", EXACT)
def test_a_soft_label_is_a_task_of_each_class_with_its_weight(model, too_sure) -> None:
    probs, truth = (part[:100] for part in too_sure)
    K = probs.shape[1]
    soft = 0.7 * np.eye(K)[truth] + 0.3 / K
    each = np.tile(np.arange(K), 100)
    split = model.fit(np.repeat(probs, K, axis=0), each, weight=soft.ravel())
    np.testing.assert_allclose(model.fit(probs, soft)(probs), split(probs), atol=2e-5)


@pytest.mark.parametrize("model", ALL)
def test_renaming_the_classes_renames_the_result(model, too_sure) -> None:
    probs, truth = too_sure
    K = probs.shape[1]
    new = np.roll(np.arange(K), 1)
    renamed = np.empty_like(probs)
    renamed[:, new] = probs
    mapped = model.fit(renamed, new[truth])(renamed)
    np.testing.assert_allclose(mapped[:, new], model.fit(probs, truth)(probs), atol=2e-5)


@pytest.mark.parametrize("model", EXACT)
def test_the_order_of_the_tasks_does_not_matter(model, too_sure) -> None:
    probs, truth = too_sure
    o = np.random.default_rng(5).permutation(len(truth))
    shuffled = model.fit(probs[o], truth[o])
    np.testing.assert_allclose(shuffled(probs), model.fit(probs, truth)(probs), atol=2e-5)


@pytest.mark.parametrize("model", ALL)
def test_it_comes_back_from_json_as_it_was(model, too_sure) -> None:
    probs, truth = too_sure
    fitted = model.fit(probs, truth)
    again = load_map(json.loads(json.dumps(fitted.to_dict(), allow_nan=False)))
    assert again.name == fitted.name
    np.testing.assert_array_equal(again(probs), fitted(probs))


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("n", [2, 5, 300])
def test_the_loss_of_the_tasks_it_is_fitted_on_never_rises(name, n, too_sure) -> None:
    for probs, truth in (too_sure, honest(300, 4, seed=9), honest(300, 2, seed=8)):
        before = NoMap().fit(probs[:n], truth[:n])(probs[:n])
        after = MAPS[name]().fit(probs[:n], truth[:n])(probs[:n])
        assert loss(after, truth[:n]) <= loss(before, truth[:n]) + 1e-12


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("K", [2, 3])
def test_it_leaves_honest_probabilities_nearly_alone(model, K) -> None:
    probs, truth = honest(20_000, K)
    if model.name == "histogram":
        model = replace(model, bins=50)
    change = np.abs(model.fit(probs, truth)(probs) - probs)
    assert change.mean() < (0.02 if model.name == "histogram" else 0.01)


@pytest.mark.parametrize("model", [pytest.param(M(), id=n) for n, M in MAPS.items() if n != "none"])
def test_it_mends_probabilities_that_are_too_sure(model, too_sure) -> None:
    probs, truth = too_sure
    K = probs.shape[1]
    right, classes = honest(5000, K, seed=11)
    new = normalized(right**2)
    mapped = model.fit(probs, truth)(new)
    assert loss(mapped, classes) < loss(new, classes) - 0.5 * (loss(new, classes) - loss(right, classes))


@pytest.mark.parametrize("model", ALL)
def test_a_class_that_never_occurs_becomes_improbable_not_impossible(model) -> None:
    probs, _ = honest(200, 3)
    probs = normalized(probs + 0.2)
    truth = (np.random.default_rng(0).random(200) < probs[:, 1] / probs[:, :2].sum(axis=1)).astype(int)
    mapped = model.fit(probs, truth)(probs)
    assert (mapped[:, 2] > 0).all()
    if model.name not in ("none", "temperature"):  # which treat all classes alike
        assert mapped[:, 2].mean() < probs[:, 2].mean() / 3


@pytest.mark.parametrize("model", ALL)
def test_a_column_of_zeros_is_allowed(model) -> None:
    probs = np.column_stack([honest(50, 2)[0], np.zeros(50)])
    mapped = model.fit(probs, honest(50, 2)[1])(probs)
    assert np.isfinite(mapped).all()
    assert mapped[:, 2].max() < 0.05


@pytest.mark.parametrize("model", ALL)
def test_separable_classes_give_finite_numbers(model) -> None:
    probs = np.tile([[0.9, 0.1], [0.2, 0.8]], (20, 1))
    mapped = model.fit(probs, np.tile([0, 1], 20))(probs)
    assert (mapped.argmax(axis=1) == np.tile([0, 1], 20)).all()
    assert mapped.min() > 1e-9


@pytest.mark.parametrize("model", ALL)
def test_its_text_finds_it_again(model) -> None:
    assert find_map(str(model)) == model
    changed = replace(model, floor=1e-6)
    assert find_map(str(changed)) == changed


def test_an_unknown_name_is_an_error_with_a_hint() -> None:
    with pytest.raises(ValueError, match="no map is called 'temprature'; did you mean temperature"):
        find_map("temprature")
