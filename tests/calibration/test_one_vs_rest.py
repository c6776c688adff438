"""Platt scaling and beta calibration agree with others and undo what they can undo."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from crowdpilot.calibration import Beta, Platt
from tests.calibration.conftest import draw, honest, normalized
from tests.calibration.test_linear_scaling import NEW, P, Y, both

# Fitted and given with netcal 1.4.0 on P and Y: BetaCalibration and LogisticCalibration.
NETCAL = {
    Beta(strength=0): [0.16617743, 0.39210487, 0.53962763, 0.90627328],
    Platt(strength=0): [0.14738017, 0.40160615, 0.55358565, 0.89448525],
}


@pytest.mark.parametrize("model", NETCAL, ids=str)
def test_it_agrees_with_netcal(model) -> None:
    mapped = model.fit(both(P), Y)(both(NEW))[:, 1]
    np.testing.assert_allclose(mapped, NETCAL[model], atol=1e-3)


def test_platt_agrees_with_sklearn() -> None:
    """A logistic regression whose decision function is the log-odds, calibrated by a sigmoid."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 2, (200, 1))
    truth = (rng.random(200) < 1 / (1 + np.exp(-0.5 * X[:, 0] - 0.3))).astype(int)
    base = LogisticRegression().fit(X, X[:, 0] > 0.5)  # much too sure
    theirs = CalibratedClassifierCV(FrozenEstimator(base), method="sigmoid", ensemble=False)
    theirs.fit(X, truth)
    probs = base.predict_proba(X)
    ours = Platt(strength=0, smoothing=True).fit(probs, truth)
    np.testing.assert_allclose(ours(probs), theirs.predict_proba(X), atol=1e-4)


def test_platt_is_a_logistic_regression_of_the_log_odds() -> None:
    probs, truth = honest(500, 2)
    odds = np.log(probs[:, 1:] / probs[:, :1])
    theirs = LogisticRegression(C=np.inf, tol=1e-8).fit(odds, truth)
    ours = Platt(strength=0).fit(probs, truth)
    np.testing.assert_allclose(ours(probs), theirs.predict_proba(odds), atol=1e-5)


def test_platts_targets_are_those_of_his_paper() -> None:
    """6 of the class and 2 others: 7 / 8 and 1 / 4; then all 8 alike are (6 * 7/8 + 2 * 1/4) / 8."""
    said = np.full((8, 2), 0.5)
    mapped = Platt(strength=0, smoothing=True).fit(said, [1] * 6 + [0] * 2)(said)
    np.testing.assert_allclose(mapped[:, 1], (6 * 7 / 8 + 2 / 4) / 8, atol=1e-6)


@pytest.mark.parametrize(("a", "b", "c"), [(0.5, 0.5, 0.0), (2.0, 0.5, 0.4), (0.0, 1.5, -0.5)])
def test_a_known_beta_curve_is_found(a, b, c) -> None:
    p = np.random.default_rng(0).uniform(0.01, 0.99, 40_000)
    right = 1 / (1 + np.exp(-(a * np.log(p) - b * np.log(1 - p) + c)))
    fitted = Beta(strength=0).fit(both(p), draw(both(right), 1))
    np.testing.assert_allclose(fitted.coefficients[1], [a, b, c], atol=0.12)
    assert np.abs(fitted(both(p)) - both(right)).mean() < 0.01


def test_the_curves_of_two_classes_sum_to_one() -> None:
    probs, truth = honest(300, 2)
    for model in (Beta(), Platt()):
        (a, b, c), (A, B, C) = model.fit(normalized(probs**2), truth).coefficients
        np.testing.assert_allclose([a, b, c], [B, A, -C], atol=1e-4)


def test_beta_never_falls_even_if_the_classifier_is_wrong_way_round() -> None:
    p = np.random.default_rng(0).uniform(0.02, 0.98, 500)
    truth = draw(both(1 - p), 1)
    grid = both(np.linspace(0.01, 0.99, 99))
    fitted = Beta().fit(both(p), truth)
    assert np.diff(fitted(grid)[:, 1]).min() >= -1e-12
    assert fitted.coefficients[:, :2].min() >= 0
    assert np.diff(Platt().fit(both(p), truth)(grid)[:, 1]).max() < 0, "Platt scaling turns it round"


def test_several_classes_are_mapped_one_by_one() -> None:
    """Each curve is that of the class against the rest, before rows are divided by their sums."""
    probs, truth = honest(300, 3)
    fitted = Beta(strength=0).fit(normalized(probs**2), truth)
    p = normalized(probs**2)[:, 2]
    alone = Beta(strength=0).fit(both(p), (truth == 2).astype(int))
    np.testing.assert_allclose(fitted.coefficients[2], alone.coefficients[1], atol=1e-3)
