"""One coin for each worker, against a computation vote by vote."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation import OneCoin
from crowdpilot.simulation import OneCoin as Crowd


def test_the_posterior_is_that_of_the_coins(simulated):
    votes, _ = simulated
    result = OneCoin(tol=1e-13, max_iter=2000).fit(votes)
    log_joint = np.zeros((150, 3))
    for task, worker, label in zip(votes.task, votes.worker, votes.label, strict=True):
        wrong = (1 - result.skill[worker]) / 2
        log_joint[task] += np.log(np.where(np.arange(3) == label, result.skill[worker], wrong))
    expected = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True))
    np.testing.assert_allclose(result.probs, expected, atol=1e-6)


def test_skills_are_recovered():
    skill = np.linspace(0.35, 0.95, 12)
    votes, _ = Crowd(tasks=3000, workers=12, classes=4, skill=tuple(skill), seed=0).run()
    np.testing.assert_allclose(OneCoin().fit(votes).skill, skill, atol=0.04)


def test_a_rare_class_is_not_swallowed():
    """With the prior estimated along with the coins, skewed sets can end in a single class."""
    prior = (0.85, 0.05, 0.05, 0.05)
    votes, truth = Crowd(
        tasks=2000, workers=40, classes=4, skill=(0.6,) * 40, votes_per_task=5, prior=prior, seed=3
    ).run()
    rare = truth > 0
    assert (OneCoin().fit(votes).codes == truth)[rare].mean() > 0.6
