"""Worker agreement with aggregate."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.models.wawa import Wawa
from crowdpilot.votes import Votes

SMALL = Votes.of(
    list("aaaabbbbccccdddeeefff"), list("wxyzwxyzwxyzwxyxyzwyz"), [int(c) for c in "001211202022001112220"]
)


def test_crowd_kit_gives_the_same():
    """Numbers of crowd-kit 1.4.2, `Wawa().fit_predict_proba`, on a set without ties."""
    result = Wawa().fit(SMALL)
    np.testing.assert_allclose(result.skill, [1, 0.8, 0.5, 0.2])
    expected = [
        [0.72, 0.2, 0.08],
        [0.08, 0.72, 0.2],
        [0.32, 0, 0.68],
        [0.7826087, 0.2173913, 0],
        [0, 0.86666667, 0.13333333],
        [0.11764706, 0, 0.88235294],
    ]
    np.testing.assert_allclose(result.probs, expected, atol=1e-8)


def test_a_tied_majority_is_agreed_with_in_part():
    votes = Votes.of([1, 1, 2, 2, 2], list("xyxyz"), list("abaab"))
    result = Wawa().fit(votes)
    np.testing.assert_allclose(result.skill, [0.75, 0.75, 0])
    np.testing.assert_allclose(result.probs, [[0.5, 0.5], [1, 0]])


def test_gold_stands_for_the_majority():
    votes = Votes.of([1, 1, 1, 2, 2], list("xyzxz"), list("aabab"), gold={1: "b"})
    result = Wawa().fit(votes)
    np.testing.assert_allclose(result.skill, [0.25, 0, 0.75])
    np.testing.assert_allclose(result.probs, [[0, 1], [0.25, 0.75]])


def test_a_weight_is_that_many_votes():
    votes = Votes.of([1, 1, 2, 2], list("xyxy"), list("abab"), weight=[3, 1, 1, 1])
    np.testing.assert_allclose(Wawa().fit(votes).skill, [3.5 / 4, 0.5 / 2])


def test_history_adds_to_what_the_votes_say_of_a_worker():
    before = Wawa().fit(Votes.of([1, 1, 1, 2, 2, 2], list("yuvyuv"), list("abbabb")))
    votes = Votes.of([5, 5, 6], list("xyx"), list("abb"))
    result = Wawa().fit(votes, history=before)
    np.testing.assert_allclose(result.skill, [0.75, 0.5 / 3])
    np.testing.assert_allclose(result.probs[0], [0.75 / (0.75 + 0.5 / 3), (0.5 / 3) / (0.75 + 0.5 / 3)])


def test_a_worker_without_votes_has_no_skill_and_a_task_without_votes_is_uniform():
    votes = Votes([0], [0], [1], [1, 2], ["x", "y"], ["a", "b"])
    result = Wawa().fit(votes)
    np.testing.assert_allclose(result.skill, [1, np.nan])
    np.testing.assert_allclose(result.probs, [[0, 1], [0.5, 0.5]])
