from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.hybrid.costs import Costs


def test_false_positives_and_false_negatives_are_at_their_places():
    errors = Costs.binary(fp=2, fn=7).errors
    assert errors[0, 1] == 2  # a negative item that is decided to be positive
    assert errors[1, 0] == 7
    assert np.diag(errors).tolist() == [0, 0]


def test_equal_errors_cost_the_same_and_right_decisions_nothing():
    np.testing.assert_allclose(Costs.equal(3, error=4).errors, [[0, 4, 4], [4, 0, 4], [4, 4, 0]])


@given(st.integers(0, 1000), st.integers(2, 5), st.integers(1, 6))
def test_the_decision_costs_what_is_expected_and_no_other_costs_less(seed, K, decisions):
    rng = np.random.default_rng(seed)
    costs = Costs(rng.uniform(0, 3, (K, decisions)))
    probs = rng.dirichlet(np.ones(K), 7)
    each = np.array(
        [[sum(p[k] * costs.errors[k, d] for k in range(K)) for d in range(decisions)] for p in probs]
    )
    np.testing.assert_allclose(costs.expected(probs), each.min(axis=1))
    np.testing.assert_allclose(each[np.arange(7), costs.decide(probs)], each.min(axis=1))


def test_a_dear_error_is_avoided_even_if_it_is_unlikely():
    probs = [[0.8, 0.2]]
    assert Costs.binary(fp=1, fn=1).decide(probs).tolist() == [0]
    assert Costs.binary(fp=1, fn=5).decide(probs).tolist() == [1]


def test_of_equal_decisions_the_first_is_taken():
    assert Costs.equal(3).decide([[0.4, 0.4, 0.2]]).tolist() == [0]


def test_to_refer_an_item_is_one_more_decision():
    costs = Costs(np.array([[0.0, 1.0, 0.2], [1.0, 0.0, 0.2]]))
    assert costs.decide([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]).tolist() == [0, 2, 1]


def test_costs_of_one_item_or_of_many_have_the_shape_of_the_items():
    costs = Costs.equal(2)
    assert costs.expected([0.7, 0.3]).shape == ()
    assert costs.expected(np.full((4, 5, 2), 0.5)).shape == (4, 5)


def test_every_kind_of_worker_has_its_price():
    costs = Costs.binary(crowd=0.02, expert=1.5)
    assert (costs.price("crowd"), costs.price("expert")) == (0.02, 1.5)
    with pytest.raises(ValueError, match=r"'robot'.*'crowd', 'expert'"):
        costs.price("robot")


def test_without_prices_there_is_a_crowd():
    for costs in (Costs(1 - np.eye(2)), Costs.binary(), Costs.equal(4)):
        assert list(costs.prices) == ["crowd"]


def test_costs_cannot_be_changed_from_outside():
    given_errors = 1 - np.eye(2)
    prices = {"crowd": 0.1}
    costs = Costs(given_errors, prices)
    given_errors[0, 1] = 50
    prices["crowd"] = 50
    assert costs.errors[0, 1] == 1
    assert costs.price("crowd") == 0.1
    with pytest.raises(ValueError, match="read-only"):
        costs.errors[0, 1] = 2


@pytest.mark.parametrize("budget", [12.5, np.inf])
def test_costs_survive_json(budget):
    costs = Costs(np.array([[0, 1.5, 0.3], [2, 0, 0.3]]), {"crowd": 0.02, "nurse": 2.0}, 0.001, budget)
    text = json.dumps(costs.to_dict(), allow_nan=False)
    again = Costs.from_dict(json.loads(text))
    np.testing.assert_array_equal(again.errors, costs.errors)
    assert (dict(again.prices), again.classifier, again.budget) == (dict(costs.prices), 0.001, budget)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"errors": [0.0, 1.0]}, "expected .classes, decisions."),
        ({"errors": [[0.0, 1.0]]}, "expected .classes, decisions."),
        ({"errors": [[0.0, -1.0], [1.0, 0.0]]}, "negative or infinite"),
        ({"errors": [[0.0, np.inf], [1.0, 0.0]]}, "negative or infinite"),
        ({"errors": [[0.0, np.nan], [1.0, 0.0]]}, "negative or infinite"),
        ({"prices": {}}, "no kind of worker"),
        ({"prices": {"crowd": -0.1}}, "'crowd' is -0.1"),
        ({"prices": {"crowd": np.inf}}, "'crowd' is inf"),
        ({"classifier": np.nan}, "'classifier' is nan"),
        ({"budget": -1.0}, "'budget' is -1.0"),
    ],
)
def test_wrong_costs_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Costs(**{"errors": 1 - np.eye(2), **settings})
