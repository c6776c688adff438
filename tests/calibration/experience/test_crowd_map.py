"""CrowdMap: Bayes' rule by Laplace's approximation, confidence and intervals, against independent ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import multivariate_normal, multivariate_t

from crowdpilot.calibration.experience import AccuracyEstimate, CrowdMap
from crowdpilot.calibration.experience.crowd_map import DEGREES_OF_FREEDOM

MEAN = np.array([0.6, 0.3, 0.8])
COVARIANCE = np.array([[0.2, -0.03, 0.04], [-0.03, 0.05, -0.02], [0.04, -0.02, 0.3]])


def some_labels(n: int, coefficients: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features of labels, and which are right with these coefficients."""
    rng = np.random.default_rng(seed)
    features = np.column_stack(
        [np.ones(n), *rng.normal(1, 1, (len(coefficients) - 1, n))],
    )
    return features, (rng.random(n) < expit(features @ coefficients)).astype(float)


def log_joint(b, features, right, weight, experience):
    eta = features @ b
    log_prior = multivariate_normal(experience.mean, experience.covariance).logpdf(b)
    return float((weight * (right * eta - np.logaddexp(0, eta))).sum() + log_prior)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_update_is_at_the_maximum_with_the_curvature_there(weighted):
    experience = CrowdMap(MEAN, COVARIANCE)
    features, right = some_labels(60, np.array([0.2, 0.9, -0.4]))
    weight = np.random.default_rng(2).uniform(0, 3, 60) if weighted else np.ones(60)
    fit = experience.update(features, right, weight if weighted else None)
    best = minimize(lambda b: -log_joint(b, features, right, weight, experience), MEAN, tol=1e-12)
    np.testing.assert_allclose(fit.map.mean, best.x, atol=1e-4)
    curvature, h = np.zeros((3, 3)), 1e-4
    for i, j in np.ndindex(3, 3):
        a, b = h * np.eye(3)[i], h * np.eye(3)[j]
        corners = [(a + b, 1), (a - b, -1), (b - a, -1), (-a - b, 1)]
        curvature[i, j] = -sum(
            sign * log_joint(fit.map.mean + d, features, right, weight, experience) for d, sign in corners
        ) / (4 * h * h)
    np.testing.assert_allclose(np.linalg.inv(fit.map.covariance), curvature, rtol=1e-3, atol=1e-3)


def test_the_marginal_likelihood_is_the_integral():
    experience = CrowdMap(MEAN[:2], COVARIANCE[:2, :2])
    features, right = some_labels(40, np.array([0.2, 0.9]), seed=1)
    fit = experience.update(features, right)
    weight = np.ones(40)
    peak = log_joint(fit.map.mean, features, right, weight, experience)
    (m0, m1), (s0, s1) = fit.map.mean, np.sqrt(np.diag(fit.map.covariance))
    integral, _ = dblquad(
        lambda y, x: np.exp(log_joint(np.array([x, y]), features, right, weight, experience) - peak),
        m0 - 7 * s0, m0 + 7 * s0, m1 - 7 * s1, m1 + 7 * s1, epsabs=1e-5,
    )  # fmt: skip
    assert fit.log_likelihood == pytest.approx(np.log(integral) + peak, abs=0.05)


def test_separable_labels_and_extreme_features_converge():
    experience = CrowdMap(MEAN, COVARIANCE)
    features = np.column_stack([np.ones(50), np.full(50, 12.0), np.full(50, 12.0)])
    for right in (np.zeros(50), np.ones(50)):
        fit = experience.update(features, right)
        assert np.isfinite(fit.map.mean).all()
        assert np.isfinite(fit.log_likelihood)
        assert np.linalg.eigvalsh(fit.map.covariance).min() > 0


def test_gold_narrows_the_coefficients():
    experience = CrowdMap(MEAN, COVARIANCE)
    features, right = some_labels(400, np.array([0.2, 0.9, -0.4]))
    before = experience.covariance
    for n in (10, 50, 400):
        after = experience.update(features[:n], right[:n]).map.covariance
        assert np.linalg.eigvalsh(before - after).min() > 0
        before = after


def test_no_labels_change_nothing():
    experience = CrowdMap(MEAN, COVARIANCE)
    fit = experience.update(np.zeros((0, 3)), np.zeros(0))
    np.testing.assert_allclose(fit.map.mean, MEAN)
    np.testing.assert_allclose(fit.map.covariance, COVARIANCE)
    assert fit.log_likelihood == pytest.approx(0, abs=1e-9)


def test_confidence_is_the_mean_over_coefficients():
    experience = CrowdMap(MEAN, COVARIANCE)
    features, _ = some_labels(40, MEAN)
    draws = np.random.default_rng(0).multivariate_normal(MEAN, COVARIANCE, 40_000)
    simulated = expit(features @ draws.T).mean(axis=1)
    np.testing.assert_allclose(experience.confidence(features), simulated, atol=0.01)


def test_uncertain_coefficients_give_less_confidence():
    features, _ = some_labels(40, MEAN)
    features = features[features @ MEAN > 0.1]
    sure = CrowdMap(MEAN, 1e-9 * np.eye(3)).confidence(features)
    assert (CrowdMap(MEAN, COVARIANCE).confidence(features) < sure).all()


@pytest.mark.parametrize(("n", "known"), [(40, 0), (40, 60), (5000, 0)])
def test_intervals_hold_for_crowds_of_the_same_kind(n, known):
    """Coefficients from the experience, right labels from them: the share is inside as often as promised.

    The distribution over crowds has the tails of Student's t, as it comes from few crowds.
    """
    experience, rng = CrowdMap(MEAN, COVARIANCE), np.random.default_rng(n)
    features, _ = some_labels(n, MEAN, seed=n)
    said = experience.accuracy(features, known)
    draws = multivariate_t(MEAN, COVARIANCE, DEGREES_OF_FREEDOM).rvs(1000, random_state=rng)
    right = (rng.random((1000, n)) < expit(draws @ features.T)).sum(axis=1) + known
    share = right / (n + known)
    assert 0.87 < ((said.low <= share) & (share <= said.high)).mean() < 0.94
    assert said.mean == pytest.approx(share.mean(), abs=0.015)


def test_tails_grow_thin_with_labels_that_are_checked():
    features, right = some_labels(100, MEAN)
    fitted = CrowdMap(MEAN, COVARIANCE).update(features, right).map
    assert fitted.checked == 100
    few, many = (CrowdMap(MEAN, COVARIANCE, checked).accuracy(features, level=0.98) for checked in (0, 1000))
    assert many.high - many.low < few.high - few.low


def test_a_higher_level_is_a_wider_interval():
    features, _ = some_labels(100, MEAN)
    wide, narrow = (CrowdMap(MEAN, COVARIANCE).accuracy(features, level=level) for level in (0.98, 0.5))
    assert wide.low < narrow.low <= narrow.mean <= narrow.high < wide.high
    assert (wide.level, narrow.level) == (0.98, 0.5)


def test_what_is_known_is_right():
    assert CrowdMap(MEAN, COVARIANCE).accuracy(np.zeros((0, 3)), 7) == (1.0, 1.0, 1.0, 0.9)


def test_an_estimate_prints_as_percentages():
    assert str(AccuracyEstimate(0.785, 0.72, 0.851)) == "78% (72% to 85%)"
