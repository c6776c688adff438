"""Iterative weighted majority voting."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.base import expected_worker_accuracy
from crowdpilot.aggregation.models.iwmv import IWMV
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.arrays import share_best
from crowdpilot.votes import Votes


def test_two_iterations_by_hand():
    """Weights go from (1/2, 1, -1/2) to (1, 1, -1); the log-odds are twice the difference."""
    votes = Votes.of([1, 1, 1, 2, 2], list("xyzxz"), list("aabab"))
    result = IWMV().fit(votes)
    np.testing.assert_allclose(result.skill, [1, 1, 0])
    np.testing.assert_allclose(result.probs[:, 1], [1 / (1 + np.exp(6)), 1 / (1 + np.exp(4))])


def test_three_classes_by_hand():
    """Skills 1, 1 and 1/3 weigh 2, 2 and 0, times K / (K - 1) = 3/2."""
    votes = Votes.of([1, 1, 1, 2, 2, 2, 3, 3, 3], list("xyz" * 3), list("aabbbbccb"))
    result = IWMV().fit(votes)
    np.testing.assert_allclose(result.skill, [1, 1, 1 / 3])
    e = np.exp(6)
    np.testing.assert_allclose(result.probs[0], np.array([e, 1, 1]) / (e + 2))


def test_labels_are_those_of_the_weights_that_come_from_the_labels(simulated):
    votes, _ = simulated
    result = IWMV().fit(votes)
    labels = share_best(votes.tally((3 * result.skill - 1)[votes.worker]))
    np.testing.assert_allclose(labels, share_best(result.probs))
    np.testing.assert_allclose(result.skill, expected_worker_accuracy(votes, labels))
    assert result.converged


@pytest.mark.parametrize("prior", ["uniform", "estimated", (0.2, 0.5, 0.3)])
def test_the_objective_never_falls(simulated, prior):
    votes, _ = simulated
    trace = IWMV(prior=prior).fit(votes).trace
    assert len(trace) > 2
    assert np.diff(trace).min() > -1e-9


def test_it_is_better_than_the_majority(simulated):
    votes, truth = simulated
    right = (IWMV().fit(votes).codes == truth).mean()
    assert right > (MajorityVoting().fit(votes).codes == truth).mean() + 0.02


def test_where_the_votes_say_nothing_the_prior_does():
    votes = Votes.of([1, 1], list("xy"), list("ab"), tasks=[2])
    np.testing.assert_allclose(IWMV().fit(votes).probs, 0.5)
    result = IWMV(prior=(0.2, 0.8)).fit(votes)
    np.testing.assert_allclose(result.probs[1], [0.2, 0.8])
    np.testing.assert_allclose(result.skill, [0, 1])  # the prior has broken the tie


def test_gold_turns_the_weight_of_a_worker_around():
    votes = Votes.of([1, 1, 2, 2], list("xyxy"), list("abab"), gold={1: "b"})
    result = IWMV().fit(votes)
    np.testing.assert_allclose(result.skill, [0, 1])
    np.testing.assert_allclose(result.probs, [[0, 1], [1 / (1 + np.exp(4)), 1 / (1 + np.exp(-4))]])


def test_history_counts_like_votes_seen_here():
    before = IWMV().fit(Votes.of([1, 1, 1], list("yuv"), list("abb")))
    result = IWMV().fit(Votes.of([5, 5], list("xy"), list("ab")), history=before)
    np.testing.assert_allclose(result.skill, [1, 0])
    assert result.labels.tolist() == ["a"]


def test_a_fit_that_starts_at_its_own_result_stays_there(simulated):
    votes, _ = simulated
    result = IWMV().fit(votes)
    again = IWMV().fit(votes, start=result)
    np.testing.assert_allclose(again.probs, result.probs)
    assert len(again.trace) < len(result.trace)
