"""The one fit of the smooth maps finds the least of what it says it minimises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from crowdpilot.calibration import MAPS
from crowdpilot.calibration.cross_entropy import Problem, solve
from tests.calibration.conftest import normalized

TIED = {name: MAPS[name]().tied(3) for name in ("vector", "matrix", "dirichlet")}
TIED["temperature"] = np.eye(4, 3, dtype=int) - 1
TIED["beta"] = np.column_stack([[-1, -1, -1], [0, 1, 2]])
TIED["platt"] = np.column_stack([[-1, -1, -1], [0, 0, 1]])


def problem(name: str, strength: float = 0.7) -> Problem:
    tied = TIED[name]
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(-2, 2, (40, tied.shape[0] - 1)), np.ones(40)])
    target = rng.dirichlet(np.ones(tied.shape[1]), 40)
    centre = rng.normal(0, 0.5, tied.max() + 1)
    return Problem(features, target, rng.uniform(0, 3, 40), tied, centre, np.full(len(centre), strength))


@pytest.mark.parametrize("name", TIED)
def test_the_gradient_is_that_of_the_objective(name) -> None:
    task = problem(name)
    at = np.random.default_rng(1).normal(0, 1, len(task.centre))
    by_steps = approx_fprime(at, lambda x: task.objective(x)[0], 1e-7)
    np.testing.assert_allclose(task.objective(at)[1], by_steps, atol=1e-5)


@pytest.mark.parametrize("name", TIED)
def test_the_objective_is_the_weighted_cross_entropy_and_the_prior(name) -> None:
    task = problem(name)
    at = np.random.default_rng(1).normal(0, 1, len(task.centre))
    probs = normalized(np.exp(task.features @ task.coefficients(at)))
    entropy = -(task.target * np.log(probs)).sum(axis=1)
    expected = task.weight @ entropy + 0.7 * ((at - task.centre) ** 2).sum() / 2
    assert task.objective(at)[0] == pytest.approx(expected / task.weight.sum())


@pytest.mark.parametrize("name", TIED)
def test_no_other_method_finds_less(name) -> None:
    task = problem(name)
    other = minimize(lambda x: task.objective(x)[0], task.centre, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(solve(task), task.coefficients(other.x), atol=1e-3)


def test_a_lower_bound_is_kept() -> None:
    task = problem("beta")
    free = solve(task)[:, 1]
    assert free[:2].min() < 0, "the bound is of interest here"
    held = solve(task, [0, 0, -np.inf])[:, 1]
    assert held[:2].min() == 0
    assert held[2] != free[2]


def test_huge_logarithms_do_not_overflow() -> None:
    task = problem("dirichlet")
    value, gradient = task._replace(features=task.features * 1e4).objective(task.centre)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
