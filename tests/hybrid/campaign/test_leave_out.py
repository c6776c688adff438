from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.hybrid import Ask, Campaign, Costs, Plan, leave_out_worker


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_without_a_worker_a_campaign_is_as_if_they_had_never_voted(seed, has_criteria, online):
    rng = np.random.default_rng(seed)
    criteria = ("old", "big") if has_criteria else ()
    made = {"costs": Costs.binary(crowd=0.02), "plan": Plan(online=online), "criteria": criteria}
    votes = [
        (item, worker, int(rng.integers(2)), criterion)
        for item in range(15)
        for worker in ("ann", "bob", "cem")
        for criterion in criteria or ("",)
        if rng.random() < 0.6
    ]
    whole, never = (Campaign(range(15), [0, 1], **made) for _ in range(2))
    whole.tell(votes, refit=True)
    never.tell([vote for vote in votes if vote[1] != "bob"], refit=True)
    before = whole.to_dict()
    copy = leave_out_worker(whole, "bob")
    np.testing.assert_allclose(copy.posterior(), never.posterior(), atol=1e-6)
    assert whole.to_dict() == before


def test_a_worker_who_was_left_out_is_not_asked_the_same_again():
    campaign = Campaign("ab", ["no", "yes"], Costs.binary(crowd=0.001))
    campaign.tell([("a", "bob", "yes")])
    copy = leave_out_worker(campaign, "bob")
    assert copy.ask("bob", 2) == [Ask("b")]
    campaign.refit()
    np.testing.assert_allclose(leave_out_worker(campaign, "nobody").posterior(), campaign.posterior())
