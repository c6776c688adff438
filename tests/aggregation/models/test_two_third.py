"""A label needs two thirds of at least two votes."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.two_third import TwoThird
from crowdpilot.votes import Votes


def decided(labels: str, **settings: float) -> bool:
    votes = Votes.of([1] * len(labels), list(range(len(labels))), list(labels), classes="abc")
    return bool(TwoThird(**settings).fit(votes).params["decided"][0])


@pytest.mark.parametrize("labels", ["aa", "aab", "aaaabb", "aaaabc", "aaaaaabbb", "a" * 14 + "b" * 7])
def test_two_thirds_of_two_votes_decide(labels):
    assert decided(labels)


@pytest.mark.parametrize("labels", ["a", "ab", "abc", "aaabb", "aaabbcc"])
def test_less_does_not(labels):
    assert not decided(labels)


def test_share_and_number_can_be_set():
    assert decided("aaabb", share=0.6)
    assert not decided("aa", least=3)


def test_probabilities_are_shares_whether_decided_or_not():
    votes = Votes.of([1, 1, 1, 2, 2, 3], list("xyzxyx"), list("aababb"), tasks=[4])
    result = TwoThird().fit(votes)
    np.testing.assert_allclose(result.probs, [[2 / 3, 1 / 3], [0.5, 0.5], [0, 1], [0.5, 0.5]])
    np.testing.assert_allclose(result.skill, [2.5 / 3, 1.5 / 2, 0])
    assert result.params["decided"].tolist() == [True, False, False, False]
    assert result.to_table()["decided"].to_pylist() == [True, False, False, False]


def test_a_weight_of_two_is_two_votes():
    votes = Votes.of([1, 2], ["x", "x"], ["a", "b"], weight=[2, 1])
    assert TwoThird().fit(votes).params["decided"].tolist() == [True, False]


def test_a_known_class_is_decided_whatever_the_votes():
    result = TwoThird().fit(Votes.of([1, 1], list("xy"), list("aa"), classes="ab", gold={1: "b"}))
    np.testing.assert_allclose(result.probs, [[0, 1]])
    assert result.params["decided"].tolist() == [True]
    assert result.skill.tolist() == [0, 0]
