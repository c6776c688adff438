"""Isotonic regression agrees with scikit-learn's and never falls."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from crowdpilot.calibration import Isotonic
from tests.calibration.conftest import draw, honest, normalized
from tests.calibration.test_linear_scaling import P, Y, both


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_sklearn_at_the_middle_of_each_block(seed) -> None:
    rng = np.random.default_rng(seed)
    p, weight = rng.integers(1, 40, 100) / 41, rng.uniform(0.2, 3, 100)  # with ties
    truth = (rng.random(100) < p**2).astype(int)
    theirs = IsotonicRegression(y_min=0, y_max=1).fit(p, truth, sample_weight=weight).predict(p)
    ours = Isotonic(smoothing=0).fit(both(p), truth, weight=weight)
    for value in np.unique(theirs.round(9)):
        block = np.isclose(theirs, value)
        middle = np.average(p[block], weights=weight[block])
        assert ours(both([middle]))[0, 1] == pytest.approx(value, abs=1e-6)


def test_it_is_straight_between_the_middles_and_level_outside() -> None:
    fitted = Isotonic(smoothing=0).fit(both([0.2, 0.4, 0.6, 0.8]), [[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]])
    mapped = fitted(both([0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95]))[:, 1]
    np.testing.assert_allclose(mapped, [0, 0, 0.25, 0.5, 0.75, 1, 1], atol=1e-9)


def test_curves_never_fall() -> None:
    p = np.random.default_rng(0).uniform(0, 1, 300)
    grid = both(np.linspace(0, 1, 201))
    for right in (p**3, 1 - p, 0.5 + 0.5 * np.sin(9 * p)):
        assert np.diff(Isotonic().fit(both(p), draw(both(right), 1))(grid)[:, 1]).min() >= -1e-12


def test_imaginary_tasks_at_the_ends_keep_it_from_certainty() -> None:
    """20 tasks below and 30 above; the average task has (30 + 1) / (50 + 2) of the class."""
    p = np.linspace(0.1, 0.9, 50)
    mapped = Isotonic().fit(both(p), [0] * 20 + [1] * 30)(both(p))
    usual = 31 / 52
    assert mapped[0, 1] == pytest.approx(2 * usual / 22)
    assert mapped[-1, 1] == pytest.approx((30 + 2 * usual) / 32)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.7, 1.0])
def test_imaginary_tasks_pull_inwards_only(share) -> None:
    p = np.linspace(0.01, 0.99, 50)
    truth = draw(both(np.full(50, share)), 0)
    with_them, without = (Isotonic(smoothing=s).fit(both(p), truth)(both([0, 1]))[:, 1] for s in (2, 0))
    assert without[0] < with_them[0] <= with_them[1] < without[1] or share in (0, 1)
    assert 0 < with_them[0] <= with_them[1] < 1


def test_linear_interpolation_predicts_other_tasks_better_than_steps() -> None:
    """The promise of the docstring, on average over samples of 100 tasks."""
    gain = []
    for seed in range(20):
        probs, truth = honest(100, 2, seed=seed)
        right, classes = honest(3000, 2, seed=seed + 1000)
        said, new = normalized(probs**2), normalized(right**2)
        lines = Isotonic().fit(said, truth)
        steps = IsotonicRegression(y_min=0.01, y_max=0.99, out_of_bounds="clip").fit(said[:, 1], truth)
        at = np.arange(len(classes)), classes
        gain.append(np.mean(np.log(lines(new)[at]) - np.log(both(steps.predict(new[:, 1]))[at])))
    assert np.mean(gain) > 0


def test_one_block_is_a_constant() -> None:
    mapped = Isotonic(smoothing=0).fit(both(P), 1 - np.sort(Y))(both(P))
    np.testing.assert_allclose(mapped[:, 1], 1 - np.mean(Y))
