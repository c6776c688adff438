from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.hybrid import Ask, Campaign, Costs, LogisticRegression, Plan, leave_out_worker
from crowdpilot.json_values import unpack


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
    campaign = Campaign(list("ab"), ["no", "yes"], Costs.binary(crowd=0.001))
    campaign.tell([("a", "bob", "yes")])
    copy = leave_out_worker(campaign, "bob")
    assert copy.ask("bob", 2) == [Ask("b")]
    campaign.refit()
    np.testing.assert_allclose(leave_out_worker(campaign, "nobody").posterior(), campaign.posterior())


def fitted(campaign):
    """Everything that a refit estimates."""
    return json.loads(json.dumps(campaign.model_update()))["questions"], campaign.posterior().tolist()


def classified_campaigns(classifier):
    """Two campaigns of 40 items with a classifier: none, given probabilities, or one that is trained."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    extra = {
        "none": {},
        "given": {"classifier_probs": rng.dirichlet([0.3, 0.3], 40)},
        "trained": {"features": x, "classifier": LogisticRegression()},
    }[classifier]
    return [Campaign(range(40), ["no", "yes"], Costs.binary(crowd=0.02), **extra) for _ in range(2)]


@pytest.mark.parametrize("classifier", ["none", "given", "trained"])
@pytest.mark.parametrize("others", [0, 15])
def test_nothing_stays_of_what_was_learned_from_a_worker_who_is_left_out(classifier, others):
    """Of 40 votes and more too few remain to train a classifier, or none at all."""
    campaign, never = classified_campaigns(classifier)
    rest = [(n, "ann", "yes" if n % 3 else "no") for n in range(others)]
    campaign.tell([(n, "bob", "yes") for n in range(40)] + rest, refit=True)
    never.tell([(0, "bob", "yes")])  # known by name, and then as if they had never voted
    never.retract([Ask(0)], "bob")
    never.tell(rest, refit=True)
    assert fitted(campaign) != fitted(never)
    copy = leave_out_worker(campaign, "bob")
    (one, probs), (other, never_probs) = fitted(copy), fitted(never)
    np.testing.assert_allclose(probs, never_probs, atol=1e-9)
    for name in ("temperature", "learned_from_votes", "classifier_probs"):
        assert one[0][name] == other[0][name], name
    for name in ("class_prior", "kind_confusion"):
        np.testing.assert_allclose(unpack(one[0][name]), unpack(other[0][name]), atol=1e-9)
    np.testing.assert_allclose(one[0]["misleading_shares"], other[0]["misleading_shares"], atol=1e-4)
    if not others:
        untouched = classified_campaigns(classifier)[0]
        np.testing.assert_allclose(probs, untouched.posterior(), atol=1e-9)
        assert copy.view.estimates().crowd_errors == untouched.view.estimates().crowd_errors


def test_what_was_learned_from_dropped_items_stays_without_votes_on_others():
    campaign = Campaign(range(40), ["no", "yes"], Costs.binary(crowd=0.02))
    votes = [(n, w, "yes" if n % 4 else "no") for n in range(40) for w in ("ann", "bob", "cem")]
    campaign.tell(votes, refit=True)
    before = campaign.view.estimates()
    campaign.close(range(40))
    campaign.drop_closed()
    campaign.add(["new"])
    campaign.refit()
    after = campaign.view.estimates()
    assert after.crowd_errors == before.crowd_errors
    np.testing.assert_allclose(after.class_prior, before.class_prior, atol=1e-3)
    np.testing.assert_allclose(np.exp(after.log_confusion), np.exp(before.log_confusion), atol=0.02)


def test_a_replica_forgets_a_classifier_when_its_votes_are_gone():
    source, _ = classified_campaigns("trained")
    follower, _ = classified_campaigns("none")
    votes = [(n, "bob", "yes" if n % 2 else "no") for n in range(40)]
    for campaign in (source, follower):
        campaign.tell(votes, refit=False)
    source.refit()
    follower.apply_model_update(source.model_update())
    assert follower.view.is_classified
    for campaign in (source, follower):
        campaign.retract([Ask(n) for n in range(40)], "bob")
    source.refit()
    follower.apply_model_update(source.model_update())
    assert not follower.view.is_classified
    np.testing.assert_allclose(follower.posterior(), source.posterior(), atol=1e-12)
