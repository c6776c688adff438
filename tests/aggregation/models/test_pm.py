"""PM weighs workers by a log of their errors."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.models.pm import PM
from crowdpilot.votes import Votes


def test_the_weight_is_minus_the_log_of_the_share_of_errors():
    weight = PM(smoothing=1).worker_weights(np.array([0.0, 3.0, 8.0]), np.array([8.0, 8.0, 8.0]))
    np.testing.assert_allclose(weight, -np.log([0.1, 0.4, 0.9]))


def test_workers_without_errors_and_without_votes_weigh_a_finite_positive_amount():
    weight = PM().worker_weights(np.zeros(3), np.array([0.0, 1.0, 1e6]))
    assert np.isfinite(weight).all()
    assert (weight > 0).all()


def test_the_only_vote_of_the_worst_worker_still_decides_its_task():
    votes = Votes.of([1, 1, 1, 2], list("xyzz"), list("aabb"))
    assert PM().fit(votes).labels.tolist() == ["a", "b"]
