"""Skills that start near chance and move towards agreement."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.base import NotConverged, expected_worker_accuracy
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.zero_based_skill import ZeroBasedSkill
from crowdpilot.arrays import share_best
from crowdpilot.votes import Votes

SMALL = Votes.of(
    list("aaaabbbbccccdddeeefff"), list("wxyzwxyzwxyzwxyxyzwyz"), [int(c) for c in "001211202022001112220"]
)


def test_crowd_kit_gives_the_same_when_settled():
    """Skills of crowd-kit 1.4.2, `ZeroBasedSkill().fit`, on a set without ties."""
    np.testing.assert_allclose(ZeroBasedSkill().fit(SMALL).skill, [1, 0.8, 0.5, 0.2], atol=1e-8)


def test_crowd_kit_gives_the_same_on_the_way():
    """Numbers of crowd-kit 1.4.2, `ZeroBasedSkill(n_iter=3, lr_init=.5, lr_steps_to_reduce=2)`."""
    with pytest.warns(NotConverged, match="did not converge in 3 iterations"):
        result = ZeroBasedSkill(max_iter=3, rate=0.5, rate_steps=2).fit(SMALL)
    np.testing.assert_allclose(result.skill, [0.81250281, 0.66875281, 0.45312781, 0.23750281], atol=1e-8)
    np.testing.assert_allclose(result.probs[0], [0.68201345, 0.20863331, 0.10935325], atol=1e-8)
    np.testing.assert_allclose(result.probs[5], [0.15800514, 0, 0.84199486], atol=1e-8)
    assert not result.converged


def test_skills_settle_at_agreement_with_the_labels_they_give(simulated):
    votes, _ = simulated
    result = ZeroBasedSkill().fit(votes)
    assert result.converged
    expected = expected_worker_accuracy(votes, share_best(result.probs))
    np.testing.assert_allclose(result.skill, expected, atol=1e-8)


def test_it_is_better_than_the_majority(simulated):
    votes, truth = simulated
    right = (ZeroBasedSkill().fit(votes).codes == truth).mean()
    assert right > (MajorityVoting().fit(votes).codes == truth).mean() + 0.02


def test_gold_judges_the_workers():
    votes = Votes.of([1, 1, 1, 2, 2], list("xyzxz"), list("aabab"), gold={1: "b"})
    result = ZeroBasedSkill().fit(votes)
    np.testing.assert_allclose(result.probs, [[0, 1], [0, 1]], atol=1e-8)
    np.testing.assert_allclose(result.skill, [0, 0, 1], atol=1e-8)


def test_history_decides_between_newcomers():
    before = ZeroBasedSkill().fit(Votes.of([1, 1, 1], list("yuv"), list("abb")))
    votes = Votes.of([5, 5], list("xy"), list("ab"))
    np.testing.assert_allclose(ZeroBasedSkill().fit(votes).probs, [[0.5, 0.5]])
    result = ZeroBasedSkill().fit(votes, history=before)
    np.testing.assert_allclose(result.probs, [[1, 0]], atol=1e-8)


def test_a_start_breaks_a_tie():
    votes = Votes.of([5, 5], list("xy"), list("ab"))
    start = MajorityVoting().fit(Votes.of([5], ["z"], ["b"], classes=["a", "b"]))
    np.testing.assert_allclose(ZeroBasedSkill().fit(votes, start=start).probs, [[0, 1]], atol=1e-8)


@pytest.mark.parametrize("rate", [0, -0.5, 1.5, float("nan")])
def test_a_rate_that_is_no_share_is_refused(rate):
    with pytest.raises(ValueError, match="expected above 0 and at most 1"):
        ZeroBasedSkill(rate=rate)


def test_no_iterations_at_all_are_refused():
    with pytest.raises(ValueError, match="max_iter is 0, expected 1 or more"):
        ZeroBasedSkill(max_iter=0)
