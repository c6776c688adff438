from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.hybrid import Ask, Campaign, Costs, LogisticRegression, Plan
from crowdpilot.json_values import pack, unpack

SAVED = Path(__file__).parent / "saved"
POSTERIOR = [0.551371663288, 0.003765234400, 0.266719966372, 0.186178688154]
ASKS = [Ask("i2", "big"), Ask("i4", "old")]
REFITTED = [0.572209327192, 0.004510358485, 0.587191327723, 0.214297247189]
UPDATED = [0.575060105051, 0.005591755762, 0.358277845025, 0.237973596434]
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
def test_a_saved_campaign_continues_exactly(criteria, learns, rounds):
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
    first.synchronize(reserved_beside=0.05)
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


def test_a_campaign_that_trains_a_classifier_needs_it_again():
    extra = {"features": np.eye(3), "classifier": LogisticRegression()}
    data = Campaign(list("abc"), ["no", "yes"], Costs.binary(), **extra).to_dict()
    with pytest.raises(ValueError, match="if and only if it had one before"):
        Campaign.from_dict(data)
    with pytest.raises(ValueError, match="expected a row for each of 3 items"):
        Campaign.from_dict(data, classifier=LogisticRegression(), features=np.eye(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "are of version 99 of 'crowdpilot-campaign', but this program reads 3"),
        ({"format": "other"}, "are of the format 'other', expected 'crowdpilot-campaign'"),
    ],
)
def test_an_unknown_format_or_version_is_refused(change, message):
    data = Campaign(list("abc"), ["no", "yes"], Costs.binary()).to_dict()
    with pytest.raises(ValueError, match=message):
        Campaign.from_dict({**data, **change})


def test_an_unknown_version_of_a_model_update_is_refused():
    campaign = Campaign(list("abc"), ["no", "yes"], Costs.binary())
    update = {**campaign.model_update(), "version": 3}
    with pytest.raises(ValueError, match="are of version 3 of 'crowdpilot-model-update'"):
        campaign.apply_model_update(update)


def test_a_campaign_saved_in_version_1_goes_on():
    """The file holds open leases, a closed item, a dropped one, criteria and incremental EM."""
    campaign = Campaign.from_dict(json.loads((SAVED / "campaign_version_1.json").read_text()))
    assert campaign.status().votes == {"crowd": 14, "expert": 2}
    assert campaign.status().reserved == pytest.approx(0.04)
    np.testing.assert_allclose(campaign.posterior()[:4, 1], POSTERIOR, atol=1e-9)
    assert campaign.ask("w9", 3) == ASKS
    campaign.tell([(ask.item, "w9", "yes", ask.criterion) for ask in ASKS], refit=True)
    np.testing.assert_allclose(campaign.posterior()[:4, 1], REFITTED, atol=1e-6)


def test_a_campaign_saved_in_version_2_has_its_overrides_and_requests():
    campaign = Campaign.from_dict(json.loads((SAVED / "campaign_version_2.json").read_text()))
    np.testing.assert_allclose(campaign.posterior()[:2, 1], [0, POSTERIOR[1]], atol=1e-9)
    assert campaign.decide().decided_by[0] == "expert"
    assert campaign.view.items().votes_wanted[:, 0].tolist() == [0, 9, 0, 0, 0, 0, 0]
    assert {ask.item for ask in campaign.ask("w9", 2)} == {"i1"}


def test_a_campaign_saved_in_version_3_has_what_is_reserved_at_other_prices():
    older, campaign = (
        Campaign.from_dict(json.loads((SAVED / f"campaign_version_{n}.json").read_text())) for n in (2, 3)
    )
    assert older.view.budget_left - campaign.view.budget_left == pytest.approx(0.25)
    np.testing.assert_array_equal(campaign.posterior(), older.posterior())


def test_a_model_update_of_version_1_is_applied():
    campaign = Campaign.from_dict(json.loads((SAVED / "campaign_version_1.json").read_text()))
    campaign.apply_model_update(json.loads((SAVED / "model_update_version_1.json").read_text()))
    np.testing.assert_allclose(campaign.posterior()[:4, 1], UPDATED, atol=1e-9)


def test_a_model_update_of_version_2_is_applied():
    """It says which workers its matrices are of; the others have that of their kind."""
    campaign = Campaign.from_dict(json.loads((SAVED / "campaign_version_1.json").read_text()))
    campaign.apply_model_update(json.loads((SAVED / "model_update_version_2.json").read_text()))
    np.testing.assert_allclose(campaign.posterior()[:4, 1], UPDATED, atol=1e-9)


def test_the_names_in_a_saved_campaign_are_those_of_its_version():
    """A renamed attribute must not rename a field."""
    saved = json.loads((SAVED / "campaign_version_3.json").read_text())
    written = Campaign.from_dict(saved).to_dict()
    assert names_in(written) == names_in(saved)
    update = json.loads((SAVED / "model_update_version_2.json").read_text())
    assert names_in(Campaign.from_dict(saved).model_update()) == names_in(update)


def names_in(data):
    """The names of all fields, without packed values."""
    if isinstance(data, list):
        return [names_in(value) for value in data]
    if not isinstance(data, dict) or "array" in data or "pairs" in data or "set" in data:
        return None
    return {name: names_in(value) for name, value in data.items()}


def test_saving_changes_nothing():
    campaign = Campaign(list("abc"), ["no", "yes"], Costs.binary())
    campaign.ask("ann", 2)
    assert campaign.to_dict() == campaign.to_dict()
