"""The majority, weighed by accuracy on gold tasks."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.gold_majority import GoldMajority
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.votes import Votes

SMALL = Votes.of(
    list("aaaabbbbccccdddeeefff"), list("wxyzwxyzwxyzwxyxyzwyz"), [int(c) for c in "001211202022001112220"]
)


def test_crowd_kit_gives_the_same_without_smoothing():
    """Numbers of crowd-kit 1.4.2, `GoldMajorityVote`, with tasks a, b and c known."""
    result = GoldMajority(smoothing=0).fit(SMALL.with_gold({"a": 0, "b": 1, "c": 2}))
    np.testing.assert_allclose(result.skill, [1, 2 / 3, 1 / 3, 1 / 3])
    expected = [[0.83333333, 0.16666667, 0], [0, 0.75, 0.25], [0.2, 0, 0.8]]
    np.testing.assert_allclose(result.probs[3:], expected, atol=1e-8)
    np.testing.assert_allclose(result.probs[:3], np.eye(3))


@pytest.mark.parametrize("smoothing", [0, 0.5, 2])
def test_smoothing_draws_towards_the_mean_accuracy(smoothing):
    result = GoldMajority(smoothing=smoothing).fit(SMALL.with_gold({"a": 0, "b": 1, "c": 2}))
    mean = 7 / 12
    expected = [(right + smoothing * mean) / (3 + smoothing) for right in (3, 2, 1, 1)]
    np.testing.assert_allclose(result.skill, expected)


@pytest.mark.parametrize("smoothing", [0, 1])
def test_a_worker_without_gold_is_as_good_as_the_mean(smoothing):
    votes = Votes.of([1, 1, 1, 2, 2], list("xyzxn"), list("aabab"), gold={1: "a"})
    result = GoldMajority(smoothing=smoothing).fit(votes)
    assert result.skill[3] == pytest.approx(2 / 3)
    assert result.labels.tolist() == ["a", "a"]


def test_it_is_better_than_the_majority(simulated):
    votes, truth = simulated
    known = votes.with_gold(dict(enumerate(truth[:50])))
    right = (GoldMajority().fit(known).codes == truth)[50:].mean()
    assert right > (MajorityVoting().fit(known).codes == truth)[50:].mean() + 0.01


def test_it_needs_votes_on_gold_tasks():
    message = "gold_majority needs votes on tasks with a gold label, and there are none"
    with pytest.raises(ValueError, match=message):
        GoldMajority().fit(SMALL)
    with pytest.raises(ValueError, match=message):
        GoldMajority().fit(Votes.of([1], ["x"], ["a"], classes="ab", tasks=[2], gold={2: "a"}))


def test_history_can_replace_gold():
    before = GoldMajority().fit(Votes.of([1, 1], list("xy"), list("ab"), gold={1: "a"}))
    result = GoldMajority().fit(Votes.of([5, 5], list("xy"), list("ab")), history=before)
    np.testing.assert_allclose(result.skill, [0.75, 0.25])
    np.testing.assert_allclose(result.probs, [[0.75, 0.25]])


def test_a_negative_smoothing_is_refused():
    with pytest.raises(ValueError, match="smoothing of gold_majority is -1, expected 0 or more"):
        GoldMajority(smoothing=-1)
