"""How sure a label is comes from the model, whatever rule the policy decides by."""

from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs, Plan
from crowdpilot.service.status.decision_confidence import confidence_in, decision_rule, weighs_votes

ITEMS = [f"i{n}" for n in range(6)]
COSTS = Costs.binary(fp=1, fn=2, crowd=0.02)


def voted(policy: str, criteria: tuple[str, ...] = ()) -> Campaign:
    campaign = Campaign(ITEMS, ["no", "yes"], COSTS, plan=Plan(policy=policy), criteria=criteria)
    for q in criteria or ("",):
        campaign.tell([(item, who, "yes" if n < 4 else "no", q) for n, item in enumerate(ITEMS)
                       for who in ("ann", "ben")], refit=False)  # fmt: skip
    campaign.refit()
    return campaign


def test_where_the_posterior_decides_it_is_that_of_the_decisions() -> None:
    campaign = voted("value")
    now = campaign.decide()
    found = confidence_in(campaign, now)
    np.testing.assert_allclose(found.probs, now.probs)
    np.testing.assert_allclose(found.expected, now.expected)
    assert (decision_rule(campaign), weighs_votes(campaign)) == ("", True)


@pytest.mark.parametrize("policy", ["fixed[votes=2]", "first_agree"])
def test_a_majority_of_two_votes_is_not_taken_for_certain(policy: str) -> None:
    campaign = voted(policy)
    now = campaign.decide()
    found = confidence_in(campaign, now)
    assert now.expected.max() == 0  # the share of the votes is no probability of being right
    np.testing.assert_allclose(found.probs, campaign.view.estimates().posterior)
    errors = found.probs @ COSTS.errors
    np.testing.assert_allclose(found.expected, errors[np.arange(6), now.codes])
    assert found.expected.min() > 0
    assert "majority" in decision_rule(campaign)
    assert not weighs_votes(campaign)


def test_what_is_known_or_decided_by_hand_is_certain_and_withdrawn_items_are_left_out() -> None:
    campaign = voted("fixed[votes=2]")
    campaign.reveal({"i0": "yes"})
    campaign.override({"i1": "no"})
    campaign.withdraw(["i2"])
    found = confidence_in(campaign, campaign.decide())
    assert len(found.probs) == 5
    np.testing.assert_allclose(found.probs[:2], [[0, 1], [1, 0]])
    np.testing.assert_allclose(found.expected[:2], 0)


def test_with_criteria_an_item_is_in_if_all_hold() -> None:
    campaign = voted("fixed[votes=2]", ("human", "trial"))
    holds = [campaign.view.estimates(name).posterior[:, 1] for name in campaign.criteria]
    found = confidence_in(campaign, campaign.decide())
    np.testing.assert_allclose(found.probs[:, 1], holds[0] * holds[1])
