"""The one fit of the smooth maps finds the least of what it says it minimises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from crowdpilot.calibration import MAPS
from crowdpilot.calibration.cross_entropy import SoftmaxRegression, fit_coefficients
from tests.calibration.conftest import normalized

PARAMETER_INDEX = {name: MAPS[name]().parameter_index(3) for name in ("vector", "matrix", "dirichlet")}
PARAMETER_INDEX["temperature"] = np.eye(4, 3, dtype=int) - 1
PARAMETER_INDEX["beta"] = np.column_stack([[-1, -1, -1], [0, 1, 2]])
PARAMETER_INDEX["platt"] = np.column_stack([[-1, -1, -1], [0, 0, 1]])


def problem(name: str, strength: float = 0.7) -> SoftmaxRegression:
    index = PARAMETER_INDEX[name]
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(-2, 2, (40, index.shape[0] - 1)), np.ones(40)])
    target = rng.dirichlet(np.ones(index.shape[1]), 40)
    mean = rng.normal(0, 0.5, index.max() + 1)
    return SoftmaxRegression(
        features, target, rng.uniform(0, 3, 40), index, mean, np.full(len(mean), strength)
    )


@pytest.mark.parametrize("name", PARAMETER_INDEX)
def test_the_gradient_is_that_of_the_objective(name) -> None:
    task = problem(name)
    at = np.random.default_rng(1).normal(0, 1, len(task.mean))
    by_steps = approx_fprime(at, lambda x: task.objective(x)[0], 1e-7)
    np.testing.assert_allclose(task.objective(at)[1], by_steps, atol=1e-5)


@pytest.mark.parametrize("name", PARAMETER_INDEX)
def test_the_objective_is_the_weighted_cross_entropy_and_the_prior(name) -> None:
    task = problem(name)
    at = np.random.default_rng(1).normal(0, 1, len(task.mean))
    probs = normalized(np.exp(task.features @ task.coefficients(at)))
    entropy = -(task.target * np.log(probs)).sum(axis=1)
    expected = task.weight @ entropy + 0.7 * ((at - task.mean) ** 2).sum() / 2
    assert task.objective(at)[0] == pytest.approx(expected / task.weight.sum())


@pytest.mark.parametrize("name", PARAMETER_INDEX)
def test_no_other_method_finds_less(name) -> None:
    task = problem(name)
    other = minimize(lambda x: task.objective(x)[0], task.mean, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(fit_coefficients(task), task.coefficients(other.x), atol=1e-3)


def test_a_lower_bound_is_kept() -> None:
    task = problem("beta")
    free = fit_coefficients(task)[:, 1]
    assert free[:2].min() < 0, "the bound is of interest here"
    held = fit_coefficients(task, [0, 0, -np.inf])[:, 1]
    assert held[:2].min() == 0
    assert held[2] != free[2]


def test_huge_logarithms_do_not_overflow() -> None:
    task = problem("dirichlet")
    value, gradient = task._replace(features=task.features * 1e4).objective(task.mean)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
