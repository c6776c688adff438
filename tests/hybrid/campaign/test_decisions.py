"""What a decision rests on, and what explains it, whatever the policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdpilot.hybrid import POLICIES, Campaign, Costs, Plan, Policy, find_policy
from crowdpilot.hybrid.campaign.estimation.contributions import posterior_of

COSTS = Costs.equal(2, crowd=0.02)
PROBS = np.array([[0.97, 0.03], [0.97, 0.03], [0.6, 0.4], [0.6, 0.4]])  # sure of a and b
OWN_RULES = ["fixed", "first_agree", "classifier_threshold"]
SOURCES = {  # of a (no votes), b (votes), c (no votes), d (votes)
    "fixed": ["prior", "votes", "prior", "votes"],
    "first_agree": ["prior", "votes", "prior", "votes"],
    "classifier_threshold": ["classifier", "classifier", "classifier", "votes"],
}


def voted(policy: str, **options: Any) -> Campaign:
    """Three votes on b and on d, with a classifier."""
    plan = Plan(policy=policy, pilot=0, fusion=options.pop("fusion", "bayes"))
    campaign = Campaign(list("abcd"), ["no", "yes"], COSTS, plan=plan, classifier_probs=PROBS, **options)
    campaign.tell([(item, worker, "yes") for item in "bd" for worker in ("ann", "bob", "cem")], refit=True)
    return campaign


@pytest.mark.parametrize("policy", POLICIES)
def test_a_decision_rests_on_what_the_policy_uses(policy: str) -> None:
    usual = ["classifier", "votes", "classifier", "votes"]
    assert voted(policy).decide().decided_by.tolist() == SOURCES.get(policy, usual)


def test_a_classifier_that_the_fusion_ignores_decides_nothing() -> None:
    assert voted("value", fusion="crowd").decide().decided_by.tolist() == ["prior", "votes"] * 2


def test_without_a_classifier_its_threshold_decides_nothing() -> None:
    campaign = Campaign(list("ab"), ["no", "yes"], COSTS, plan=Plan(policy="classifier_threshold"))
    campaign.tell([("b", "ann", "yes")])
    assert campaign.decide().decided_by.tolist() == ["prior", "votes"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_known_class_wins_over_votes_and_classifier(policy: str) -> None:
    now = voted(policy, gold={"a": "yes", "d": "no"}).decide()
    assert now.labels[[0, 3]].tolist() == ["yes", "no"]
    assert now.decided_by[[0, 3]].tolist() == ["gold", "gold"]
    np.testing.assert_array_equal(now.probs[[0, 3], [1, 0]], 1)


def test_a_threshold_takes_the_classifier_as_calibrated_when_it_asks_and_when_it_decides() -> None:
    """It is 95 % sure of every item, and half of the votes say otherwise."""
    probs = np.tile([0.95, 0.05], (40, 1))
    plan = Plan(policy="classifier_threshold")
    campaign = Campaign(range(40), ["no", "yes"], COSTS, plan=plan, classifier_probs=probs)
    votes = [(n, w, "yes" if n % 2 else "no") for n in range(20) for w in ("ann", "bob", "cem")]
    campaign.tell(votes, refit=True)
    assert len(campaign.ask("dan", 40)) == 20, "it asks about items that it is not sure of any more"
    now = campaign.decide()
    assert now.labels[:20].tolist() == ["no", "yes"] * 10
    assert now.decided_by.tolist() == ["votes"] * 20 + ["classifier"] * 20


@pytest.mark.parametrize("policy", POLICIES)
def test_contributions_explain_the_posterior_that_decides_or_there_are_none(policy: str) -> None:
    campaign = voted(policy)
    for row, item in enumerate("abcd"):
        if parts := campaign.view.contributions(item):
            np.testing.assert_allclose(posterior_of(parts), campaign.posterior()[row], atol=1e-9)
        assert bool(parts) != bool(campaign.view.decision_rule)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_with_a_posterior_of_its_own_says_by_which_rule(name: str) -> None:
    policy = find_policy(name)
    is_own = type(policy).final_posterior is not Policy.final_posterior
    assert is_own == bool(policy.decision_rule) == (name in OWN_RULES)


def test_the_rule_names_the_aggregator() -> None:
    campaign = voted("fixed[votes=3,strategy='dawid_skene']")
    assert campaign.view.decision_rule == "dawid_skene decides from the votes on all items"
    assert "first_agree" not in voted("first_agree").view.decision_rule
    with pytest.raises(ValueError, match="there is no item"):
        campaign.view.contributions("x")
