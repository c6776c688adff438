"""Learning from many crowds recovers how coefficients vary between them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from crowdpilot.calibration.experience import Crowd, learn_experience

MEAN = np.array([0.5, 0.3, 0.9])
COVARIANCE = np.array([[0.3, -0.1, 0.0], [-0.1, 0.2, 0.05], [0.0, 0.05, 0.4]])


def simulated_crowds(n: int, tasks: int, seed: int = 0) -> list[Crowd]:
    """Crowds whose coefficients have this mean and covariance."""
    rng = np.random.default_rng(seed)
    crowds = []
    for coefficients in rng.multivariate_normal(MEAN, COVARIANCE, n):
        features = np.column_stack([np.ones(tasks), *rng.normal(0, 1.2, (2, tasks))])
        right = (rng.random(tasks) < expit(features @ coefficients)).astype(float)
        crowds.append(Crowd(features, right, np.ones(tasks), 1.0))
    return crowds


def test_mean_and_covariance_are_recovered():
    learned = learn_experience(simulated_crowds(300, 400))
    np.testing.assert_allclose(learned.mean, MEAN, atol=0.1)
    np.testing.assert_allclose(learned.covariance, COVARIANCE, atol=0.1)


def test_small_crowds_are_not_taken_for_different_ones():
    """With 40 tasks each, coefficients by themselves would vary far more than they do."""
    learned = learn_experience(simulated_crowds(300, 40, seed=1))
    np.testing.assert_allclose(learned.mean, MEAN, atol=0.12)
    np.testing.assert_allclose(np.diag(learned.covariance), np.diag(COVARIANCE), atol=0.15)


def test_the_order_of_crowds_does_not_matter():
    crowds = simulated_crowds(20, 100)
    one, other = learn_experience(crowds), learn_experience(crowds[::-1])
    np.testing.assert_allclose(one.mean, other.mean)
    np.testing.assert_allclose(one.covariance, other.covariance)


def test_a_crowd_of_no_weight_counts_for_nothing():
    crowds = simulated_crowds(10, 100)
    odd = crowds[0]._replace(right=1 - crowds[0].right, weight=0.0)
    np.testing.assert_allclose(learn_experience([*crowds, odd]).mean, learn_experience(crowds).mean)


def test_tasks_of_no_weight_count_for_nothing():
    crowds = simulated_crowds(10, 100)
    half = np.arange(100) < 50
    masked = [c._replace(task_weight=half.astype(float)) for c in crowds]
    cut = [Crowd(c.features[half], c.right[half], c.task_weight[half], 1.0) for c in crowds]
    np.testing.assert_allclose(learn_experience(masked).mean, learn_experience(cut).mean)


def test_one_crowd_leaves_the_covariance_positive():
    learned = learn_experience(simulated_crowds(1, 200))
    assert np.linalg.eigvalsh(learned.covariance).min() > 0.01


def test_without_crowds_there_is_nothing_to_learn():
    with pytest.raises(ValueError, match="no crowds to learn from"):
        learn_experience([])
