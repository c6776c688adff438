from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid import Ask, Campaign, Costs, Plan


def test_override_is_certain_and_judges_nobody():
    campaign = Campaign(list("abc"), ["no", "yes"], Costs.binary(fp=1, fn=2, crowd=0.02))
    campaign.tell([(item, worker, "yes") for item in "abc" for worker in ("ann", "bob")], refit=True)
    skills = campaign.view.estimates().log_confusion.copy()
    campaign.override({"a": "no"})
    now = campaign.decide()
    assert now.labels.tolist() == ["no", "yes", "yes"]
    assert (now.probs[0].tolist(), now.expected[0], bool(now.done[0])) == ([1.0, 0.0], 0.0, True)
    assert now.decided_by.tolist() == ["expert", "votes", "votes"]
    assert all(ask.item != "a" for ask in campaign.ask("cem", 3))
    campaign.refit()
    np.testing.assert_allclose(campaign.view.estimates().log_confusion[:2], skills, atol=1e-6)
    campaign.override({"a": None})
    assert campaign.decide().labels.tolist() == ["yes"] * 3


def test_an_override_wins_where_costs_would_decide_otherwise_and_over_a_closed_decision():
    campaign = Campaign(list("ab"), ["no", "yes"], Costs([[0, 0], [5, 0]], {"crowd": 0.1}))
    campaign.close(["b"])
    campaign.override({"a": "no", "b": "no"})
    assert campaign.decide().labels.tolist() == ["no", "no"]


@pytest.mark.parametrize(("votes", "label"), [(0, "yes"), (3, "no")])
def test_an_override_that_is_taken_back_leaves_a_closed_item_as_it_would_be_without(votes, label):
    campaign, without = (Campaign(list("ab"), ["no", "yes"], Costs.binary(crowd=0.02)) for _ in range(2))
    for each in (campaign, without):
        each.tell([("a", worker, "yes") for worker in range(votes)])
    campaign.override({"a": label})
    for each in (campaign, without):
        each.close(["a"])
    assert campaign.decide().labels[0] == label, "the expert still decides"
    assert campaign.decide().decided_by[0] == "expert"
    campaign.override({"a": None})
    assert campaign.view.items().final.tolist() == without.view.items().final.tolist()
    assert campaign.decide().labels.tolist() == without.decide().labels.tolist()
    assert campaign.decide().codes[0] == int(votes > 0)


def test_an_override_of_a_criterion_is_not_part_of_the_final_decision():
    campaign = Campaign(list("a"), ["no", "yes"], Costs.binary(), criteria=["old", "big"])
    campaign.tell([("a", worker, "yes", c) for worker in "xyz" for c in ("old", "big")], refit=True)
    campaign.override({"big": {"a": "no"}})
    campaign.close()  # no vote can change the decision, so it is done
    assert (campaign.decide().codes[0], campaign.view.items().final[0]) == (0, 1)
    campaign.override({"big": {"a": None}})
    assert campaign.decide().codes[0] == 1


def test_an_override_of_one_criterion_decides_the_item():
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary(), criteria=["old", "big"])
    campaign.override({"big": {"a": "no"}})
    now = campaign.decide()
    assert (now.codes[0], now.probs[0, 0]) == (0, 1.0)
    assert all(ask.item == "b" for ask in campaign.ask("ann", 4))  # nothing else can change it


@pytest.mark.parametrize("state", ["stopped", "overridden", "full", "worthless"])
def test_requested_votes_are_asked_for_whatever_they_are_worth(state):
    plan = Plan(per_item=1 if state == "full" else None)
    crowd = 50.0 if state == "worthless" else 0.02
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary(crowd=crowd), plan=plan)
    campaign.tell([("a", "ann", "yes")])
    if state == "stopped":
        campaign.stop([Ask("a")])
    if state == "overridden":
        campaign.override({"a": "yes"})
    campaign.request(["a"], 2)
    assert not campaign.decide().done[0]
    assert Ask("a") in campaign.ask("bob", 2)
    assert Ask("a") not in campaign.ask("cem", 2)  # one is on its way
    campaign.tell([("a", "bob", "yes")])
    assert campaign.view.items().votes[0, 0] == 2
    campaign.request(["a"], 9)
    campaign.stop([Ask("a")])
    assert Ask("a") not in campaign.ask("dan", 2)


def test_a_request_does_not_exceed_the_budget_nor_ask_about_gold():
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary(crowd=1.0, budget=1.0), gold={"b": "yes"})
    campaign.request("ab", 3)
    assert campaign.ask("ann", 5) == [Ask("a")]
    assert campaign.ask("bob", 5) == []


def test_gold_can_be_taken_back():
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary(), gold={"a": "yes"})
    campaign.reveal({"a": None})
    assert campaign.decide().decided_by.tolist() == ["prior", "prior"]
    np.testing.assert_allclose(*campaign.posterior())
