"""The majority, with a weight given to each worker."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.weighted_majority import WeightedMajority
from crowdpilot.aggregation.registry import parse_strategy
from crowdpilot.votes import Votes

VOTES = Votes.of([1, 1, 1, 2, 2], list("xyzxy"), list("abbab"))


def test_a_weight_multiplies_the_votes_of_a_worker():
    result = WeightedMajority({"x": 3, "y": 0.5}).fit(VOTES)
    np.testing.assert_allclose(result.probs, [[2 / 3, 1 / 3], [6 / 7, 1 / 7]])
    np.testing.assert_allclose(result.skill, [1, 0, 0])
    assert result.params["weight"].tolist() == [3, 0.5, 1]


def test_equal_weights_give_the_labels_of_the_majority(simulated):
    votes, _ = simulated
    same = WeightedMajority(dict.fromkeys(range(8), 2.5), seed=3).fit(votes)
    assert (same.labels == MajorityVoting(seed=3).fit(votes).labels).all()


def test_a_task_without_any_weight_is_uniform():
    probs = WeightedMajority({"x": 0, "y": 0}).fit(VOTES).probs
    np.testing.assert_allclose(probs, [[0, 1], [0.5, 0.5]])


def test_gold_is_kept_and_judges_the_workers():
    result = WeightedMajority({"x": 9}).fit(VOTES.with_gold({1: "b"}))
    np.testing.assert_allclose(result.probs[0], [0, 1])
    np.testing.assert_allclose(result.skill, [0.5, 0.5, 1])


def test_workers_are_found_by_the_text_of_their_name():
    votes = Votes.of([1, 1], [7, 8], ["a", "b"])
    np.testing.assert_allclose(WeightedMajority({"7": 3}).fit(votes).probs, [[0.75, 0.25]])


def test_settings_can_be_compared_hashed_and_written_as_a_strategy():
    model = WeightedMajority({"y": 2, "x": 1})
    assert model == WeightedMajority((("x", 1.0), ("y", 2.0)))
    assert len({model, WeightedMajority({"x": 1, "y": 2})}) == 1
    assert parse_strategy("WMV[weights={'x':1,'y':2}]") == model
    assert parse_strategy(str(model)) == model


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"x": -1}, "weight of worker 'x' is -1.0, expected 0 or more"),
        ({"x": float("nan")}, "weight of worker 'x' is nan"),
        ((("1", 2), (1, 3)), "a worker is given two weights"),
        (3, "weights is 3, expected a number for each worker"),
        ({"x": "much"}, "expected a number for each worker"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        WeightedMajority(weights)


def test_a_weight_for_someone_unknown_is_refused():
    with pytest.raises(ValueError, match="given to 'q', which is not one of the workers"):
        WeightedMajority({"x": 1, "q": 2}).fit(VOTES)
