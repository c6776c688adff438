from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.hybrid import Campaign, Costs, LogisticRegression, Plan
from crowdpilot.json_values import pack, unpack

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(
    st.recursive(SIMPLE, lambda v: st.lists(v) | st.dictionaries(st.text() | st.integers(), v), max_leaves=9)
)
def test_values_come_back_from_json_as_they_were(value):
    assert unpack(json.loads(json.dumps(pack(value)))) == value


@pytest.mark.parametrize("value", [{(1, 2): [0.1]}, {(3, "a"), (2, "b")}, (1, (2.5, None)), np.float64(0.1)])
def test_tuples_and_sets_come_back_too(value):
    back = unpack(json.loads(json.dumps(pack(value))))
    assert back == value
    assert type(back) is (float if isinstance(value, float) else type(value))


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64", "uint64", "bool"])
def test_arrays_come_back_bit_for_bit(dtype):
    rng = np.random.default_rng(0)
    array = (rng.normal(size=(4, 3)) * 10).astype(dtype)
    if dtype == "float64":
        array[0] = np.inf, -np.inf, 5e-324
    for given_ in (array, array.T, array[:0]):
        back = unpack(json.loads(json.dumps(pack(given_), allow_nan=False)))
        assert back.dtype == given_.dtype
        np.testing.assert_array_equal(back, given_)
        back[...] = 0  # and may be written to


def test_what_json_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"cannot be written down; names are texts or numbers"):
        Campaign([frozenset("a")], ["no", "yes"], Costs.binary()).to_dict()


def run(campaign, truth, rounds, seed):
    """Some rounds of asking and telling; what was asked."""
    rng = np.random.default_rng(seed)
    asked = []
    for n in range(rounds):
        asks = campaign.ask(f"worker {n % 4}", 5)
        asked += asks
        votes = [
            (a.item, f"worker {n % 4}", int(truth[a.item] ^ (rng.random() < 0.2)), a.criterion) for a in asks
        ]
        campaign.tell(votes[: rng.integers(len(votes) + 1)])  # some come later, or never
    return asked


@pytest.mark.parametrize("criteria", [(), ("old", "big")])
@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.parametrize("rounds", [0, 3, 12])
def test_a_campaign_goes_on_exactly_where_it_was_written_down(criteria, learns, rounds):
    rng = np.random.default_rng(rounds)
    truth = rng.integers(2, size=40)
    x = rng.normal(size=(40, 2)) + truth[:, None]
    extra = {"features": x, "classifier": LogisticRegression()} if learns else {}
    plan = Plan(refit_every=10, explore=0.2, gold=0.1, pilot=5, seed=3)
    costs = Costs.binary(fp=1, fn=2, crowd=0.02, expert=0.1, budget=4.0)
    gold = {n: int(truth[n]) for n in range(5)}
    first = Campaign(
        range(40), [0, 1], costs, plan=plan, criteria=criteria, **extra,
        gold=dict.fromkeys(criteria, gold) if criteria else gold,
    )  # fmt: skip
    run(first, truth, rounds, 1)
    first.close([7, 8])
    first.withdraw([9])
    text = json.dumps(first.to_dict(), allow_nan=False)
    second = Campaign.from_dict(json.loads(text), **extra)
    assert second.to_dict() == first.to_dict()
    assert run(first, truth, 8, 2) == run(second, truth, 8, 2)
    for campaign in (first, second):
        campaign.refit()
    np.testing.assert_array_equal(first.posterior(), second.posterior())
    np.testing.assert_array_equal(first.decide().codes, second.decide().codes)
    assert first.status() == second.status()
    assert first.to_dict() == second.to_dict()


def test_a_campaign_that_learns_wants_its_classifier_back():
    extra = {"features": np.eye(3), "classifier": LogisticRegression()}
    data = Campaign("abc", ["no", "yes"], Costs.binary(), **extra).to_dict()
    with pytest.raises(ValueError, match="if and only if it had one before"):
        Campaign.from_dict(data)
    with pytest.raises(ValueError, match="expected a row for each of 3 items"):
        Campaign.from_dict(data, classifier=LogisticRegression(), features=np.eye(2))


def test_another_form_is_refused():
    data = Campaign("abc", ["no", "yes"], Costs.binary()).to_dict()
    with pytest.raises(ValueError, match="was written in form 99, expected 3"):
        Campaign.from_dict({**data, "version": 99})


def test_a_campaign_of_form_2_goes_on():
    """There the votes were lists, among what a question knows."""
    campaign = Campaign("abc", ["no", "yes"], Costs.binary())
    campaign.tell([("a", "ann", "yes"), ("b", "ann", "no"), ("a", "bob", "no")])
    data = campaign.to_dict()
    votes = {name: unpack(column).tolist() for name, column in data["votes"][0].items()}
    parts = [*data["parts"][:-1], {**data["parts"][-1], **votes}]
    old = {**data, "version": 2, "parts": parts}
    del old["votes"]
    assert Campaign.from_dict(old).to_dict() == data


def test_writing_down_changes_nothing():
    campaign = Campaign("abc", ["no", "yes"], Costs.binary())
    campaign.ask("ann", 2)
    assert campaign.to_dict() == campaign.to_dict()
