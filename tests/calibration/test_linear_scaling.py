"""Temperature, vector, matrix and Dirichlet undo what they can undo, and agree with others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

from crowdpilot.calibration import Dirichlet, Matrix, NoMap, Temperature, Vector
from tests.calibration.conftest import draw, honest, normalized

LINEAR = [Temperature, Vector, Matrix, Dirichlet]

# Fitted and given with netcal 1.4.0, TemperatureScaling().fit(p, y).transform(new).
P = [0.05, 0.12, 0.18, 0.22, 0.31, 0.36, 0.41, 0.45, 0.52, 0.57]
P += [0.63, 0.66, 0.71, 0.78, 0.83, 0.88, 0.91, 0.94, 0.97, 0.985]
Y = [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1]
NEW = [0.1, 0.4, 0.6, 0.95]
NETCAL = [0.16278735, 0.42501955, 0.57498045, 0.89975871]


def both(p) -> np.ndarray:
    return np.column_stack([1 - np.asarray(p), p])


def test_temperature_agrees_with_netcal() -> None:
    mapped = Temperature(strength=0).fit(both(P), Y)(both(NEW))[:, 1]
    np.testing.assert_allclose(mapped, NETCAL, atol=1e-4)


def test_temperature_agrees_with_sklearn() -> None:
    calibration = pytest.importorskip("sklearn.calibration")
    if not hasattr(calibration, "_TemperatureScaling"):
        pytest.skip("this scikit-learn has no temperature scaling")
    probs, truth = honest(400, 3)
    probs = normalized(probs**2)
    theirs = calibration._TemperatureScaling().fit(np.log(probs), truth)
    ours = Temperature(strength=0).fit(probs, truth)
    assert ours.weights[0, 0] == pytest.approx(theirs.beta_, rel=1e-3)


def test_temperature_is_the_least_of_a_search_along_the_line() -> None:
    probs, truth = honest(200, 4)
    soft = 0.8 * np.eye(4)[truth] + 0.05

    def loss(w: float) -> float:
        return -float((soft * np.log(normalized(probs**w))).sum())

    found = minimize_scalar(loss, bounds=(0.05, 5), method="bounded", options={"xatol": 1e-9}).x
    assert Temperature(strength=0).fit(probs, soft).weights[0, 0] == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize(("strength", "off_diagonal"), [(0.3, 0.3), (5.0, 50.0)])
def test_where_dirichlet_ends_the_tasks_pull_as_much_as_the_prior(strength, off_diagonal) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    probs = normalized(rng.gamma(1 + 2 * np.eye(3)[truth]))
    fitted = Dirichlet(strength=strength, off_diagonal=off_diagonal).fit(probs, truth)
    pull = (np.eye(3)[truth] - fitted(probs)).T @ np.column_stack([np.log(probs), np.ones(300)])
    mean = Temperature().fit(probs, truth)
    away = np.column_stack([fitted.weights - mean.weights, fitted.intercept])
    firm = np.where(np.eye(3, 4) > 0, strength, off_diagonal)
    firm[:, 3] = strength
    np.testing.assert_allclose(pull, firm * away, atol=1e-3)


def test_dirichlet_without_a_prior_is_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=400)
    probs = normalized(rng.gamma(1 + 2 * np.eye(3)[truth]))
    theirs = LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000).fit(np.log(probs), truth)
    ours = Dirichlet(strength=0, off_diagonal=0).fit(probs, truth)
    np.testing.assert_allclose(ours(probs), theirs.predict_proba(np.log(probs)), atol=1e-4)


def test_matrix_without_a_prior_is_logistic_regression_of_the_logits() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=400)
    probs = normalized(rng.gamma(1 + 2 * np.eye(3)[truth]))
    logits = np.log(probs / probs[:, :1])[:, 1:]
    theirs = LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000).fit(logits, truth)
    ours = Matrix(strength=0, off_diagonal=0).fit(probs, truth)
    np.testing.assert_allclose(ours(probs), theirs.predict_proba(logits), atol=1e-4)


@pytest.mark.parametrize("T", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("K", [2, 10])
def test_a_known_temperature_is_found(T, K) -> None:
    right, truth = honest(20_000, K)
    fitted = Temperature().fit(normalized(right**T), truth)
    assert 1 / fitted.weights[0, 0] == pytest.approx(T, rel=0.05)
    np.testing.assert_allclose(fitted(normalized(right**T)), right, atol=0.02)


def test_a_known_vector_is_undone() -> None:
    rng = np.random.default_rng(0)
    said = normalized(np.exp(rng.normal(0, 1.5, (40_000, 3))))
    right = normalized(said ** np.array([0.5, 1.0, 1.5]) * np.exp([0.4, -0.4, 0.0]))
    fitted = Vector().fit(said, draw(right, 1))
    np.testing.assert_allclose(np.diag(fitted.weights), [0.5, 1.0, 1.5], atol=0.06)
    assert np.abs(fitted(said) - right).mean() < 0.01


@pytest.mark.parametrize("model", [Matrix(), Dirichlet()], ids=str)
def test_a_known_matrix_is_undone(model) -> None:
    rng = np.random.default_rng(0)
    said = normalized(np.exp(rng.normal(0, 1.5, (40_000, 3))))
    W = np.array([[0.8, 0.3, -0.1], [-0.2, 0.7, 0.5], [0.4, 0.0, 0.6]])  # rows of equal sum
    right = normalized(np.exp(np.log(said) @ W.T + [0.3, 0.0, -0.3]))
    fitted = model.fit(said, draw(right, 1))
    assert np.abs(fitted(said) - right).mean() < 0.01


def test_the_weights_of_dirichlet_distributions_are_found() -> None:
    """If p is Dirichlet(alpha_k) in class k, W is alpha - 1 up to what all classes share (Kull et al.)."""
    rng = np.random.default_rng(0)
    alpha = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 1.0], [1.0, 2.0, 5.0]])
    truth = np.repeat(np.arange(3), 20_000)
    probs = np.vstack([rng.dirichlet(a, 20_000) for a in alpha])
    fitted = Dirichlet(strength=0, off_diagonal=0).fit(probs, truth)
    found = fitted.weights - fitted.weights.mean(axis=0)
    np.testing.assert_allclose(found, alpha - alpha.mean(axis=0), atol=0.1)


@pytest.mark.parametrize("K", [2, 5])
def test_temperature_keeps_the_most_probable_class(K) -> None:
    probs, _ = honest(200, K)
    for truth in (probs.argmin(axis=1), probs.argmax(axis=1), draw(probs, 3)):
        mapped = Temperature().fit(probs, truth)(probs)
        np.testing.assert_array_equal(mapped.argmax(axis=1), probs.argmax(axis=1))


def test_none_changes_nothing() -> None:
    probs, truth = honest(50, 4)
    np.testing.assert_allclose(NoMap().fit(probs, truth)(probs), probs, rtol=1e-12)


@pytest.mark.parametrize("model", LINEAR, ids=lambda m: m.name)
def test_few_tasks_move_less_than_many_like_them(model) -> None:
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    few = model().fit(probs, [0, 1])(probs)
    many = model().fit(np.tile(probs, (30, 1)), np.tile([0, 1], 30))(probs)
    assert np.abs(few - probs).max() < np.abs(many - probs).max()


def test_a_temperature_held_firmly_is_the_identity() -> None:
    probs, truth = honest(100, 3)
    said = normalized(probs**2)
    np.testing.assert_allclose(Temperature(strength=1e9).fit(said, truth)(said), said, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [Vector(strength=1e9), Matrix(strength=1e9, off_diagonal=1e9), Dirichlet(strength=1e9, off_diagonal=1e9)],
    ids=lambda m: m.name,
)
def test_other_maps_held_firmly_are_a_temperature(model) -> None:
    probs, truth = honest(100, 3)
    said = normalized(probs**2)
    np.testing.assert_allclose(model.fit(said, truth)(said), Temperature().fit(said, truth)(said), atol=1e-4)


def test_a_floor_keeps_certainty_from_ruling() -> None:
    """One mistake of a certain classifier counts as one of a classifier that is 99 % sure."""
    sure, less = both([0.0] * 9 + [1.0] * 9), both([0.01] * 9 + [0.99] * 9)
    truth = [0] * 9 + [1] * 8 + [0]
    a = Temperature(floor=0.01).fit(less, truth)(less)
    b = Temperature(floor=0.01).fit(sure, truth)(sure)
    np.testing.assert_allclose(a, b, atol=1e-2)
