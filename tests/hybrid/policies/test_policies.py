from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.hybrid import POLICIES, Campaign, Costs, Plan, find_policy
from crowdpilot.hybrid.policies import View
from crowdpilot.hybrid.value.vote_value import look_ahead, plan_ahead

CROWD = np.array([[0.8, 0.2], [0.2, 0.8]])
EXPERT = np.array([[0.98, 0.02], [0.02, 0.98]])


def view(probs, votes=0, pending=0, **changes):
    """Items with these posteriors of the second class, with the same number of votes each."""
    P = np.column_stack([1 - np.asarray(probs, float), probs])
    n = len(P)
    tally = np.zeros((n, 2))
    tally[:, 0] = votes
    seen = View(
        P, None, tally, np.full(n, float(pending)), 1 - np.eye(2), np.stack([CROWD, EXPERT]),
        np.array([0.02, 0.2]), P, 1 - np.eye(2), np.array([False, True]), np.ones(n),
    )  # fmt: skip
    return replace(seen, **changes)


@pytest.mark.parametrize("share_with_votes", [0.1, 0.9])
@pytest.mark.parametrize("name", POLICIES)
def test_values_of_each_kind_and_item_do_not_depend_on_other_items(name, share_with_votes):
    policy = find_policy(name)
    tally = np.array([[0, 0], [1, 0], [1, 1], [0, 2], [0, 4]], float)
    seen = view([0.1, 0.4, 0.5, 0.9, 0.9999], tally=tally, share_with_votes=share_with_votes)
    every = policy.acquisition_values(seen)
    assert every.shape == (2, 5)
    assert not np.isnan(every).any()
    for n in range(5):
        alone = policy.acquisition_values(
            view(seen.posterior[[n], 1], tally=tally[[n]], share_with_votes=share_with_votes)
        )
        np.testing.assert_allclose(alone[:, 0], every[:, n], rtol=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_a_sure_item_with_votes_is_not_asked_about(name):
    assert (find_policy(name).acquisition_values(view([1e-9, 1 - 1e-9], votes=50)) <= 0).all()


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_written_as_it_is_read(name):
    policy = find_policy(name)
    assert str(policy) == name
    assert find_policy(str(policy)) == policy


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_comes_to_an_end(name):
    rng = np.random.default_rng(0)
    probs = rng.dirichlet([0.7, 0.7], 40)
    campaign = Campaign(
        range(40), [0, 1], Costs.binary(crowd=0.05), plan=Plan(policy=name, pilot=5), classifier_probs=probs
    )
    truth = (rng.random(40) < probs[:, 1]).astype(int)
    for worker in range(200):
        asks = campaign.ask(f"worker {worker}", 20)
        if not asks and not campaign.view.votes_since_refit:
            break
        votes = [(a.item, f"worker {worker}", int(truth[a.item] ^ (rng.random() < 0.15))) for a in asks]
        campaign.tell(votes, refit=not asks or None)
    else:
        pytest.fail("the policy never stops asking")
    assert (campaign.decide().codes == truth).mean() > 0.7


def test_options_are_kept_and_wrong_ones_refused():
    assert find_policy("fixed[votes=3]").votes == 3
    assert str(find_policy("Fixed[votes=3, strategy='wawa']")) == "fixed[votes=3,strategy='wawa']"
    with pytest.raises(ValueError, match="fixed has no option 'vote'"):
        find_policy("fixed[vote=3]")
    with pytest.raises(ValueError, match="did you mean fixed"):
        find_policy("fixd")


@pytest.mark.parametrize(("policy", "look"), [("value", plan_ahead), ("value[plans=False]", look_ahead)])
def test_value_is_what_a_vote_saves_for_its_price_and_goes_to_the_better_kind(policy, look):
    seen = view([0.5, 0.3])
    values = find_policy(policy).acquisition_values(seen)
    gains = np.stack([look(seen.posterior, confusion, seen.errors, ahead=5) for confusion in seen.confusion])
    rate = gains / seen.prices[:, None]
    np.testing.assert_allclose(values.max(axis=0), rate.max(axis=0) - 1)
    np.testing.assert_array_equal(values.argmax(axis=0), rate.argmax(axis=0))


def test_value_waits_for_pending_votes():
    assert (find_policy("value").acquisition_values(view([0.5], pending=1)) <= 0).all()


def test_value_counts_what_the_classifier_learns_from_a_first_label():
    sure = [0.999]
    value = find_policy("value")
    assert (value.acquisition_values(view(sure)) <= 0).all()
    assert (value.acquisition_values(view(sure, training_value=0.1)) > 0).any()
    assert (value.acquisition_values(view(sure, votes=1, training_value=0.1)) <= 0).all()
    assert (
        find_policy("value[training=False]").acquisition_values(view(sure, training_value=0.1)) <= 0
    ).all()


def test_fixed_redundancy_counts_pending_votes():
    policy = find_policy("fixed[votes=3]")
    assert policy.acquisition_values(view([0.5], votes=2))[0, 0] > 0
    assert policy.acquisition_values(view([0.5], votes=2, pending=1))[0, 0] <= 0
    assert policy.acquisition_values(view([0.999], votes=0))[0, 0] > 0  # whatever the posterior


def test_a_confident_classifier_decides_alone():
    policy = find_policy("classifier_threshold[confidence=0.9,votes=2]")
    classifier = np.array([[0.95, 0.05], [0.6, 0.4]])
    values = policy.acquisition_values(view([0.5, 0.5], classifier=classifier))[0]
    assert values[0] <= 0 < values[1]


def test_the_least_sure_item_comes_first_until_it_is_done():
    values = find_policy("posterior_threshold[threshold=0.9]").acquisition_values(view([0.5, 0.7, 0.95]))[0]
    assert values[0] > values[1] > 0 >= values[2]
    assert (
        find_policy("posterior_threshold[max_votes=4]").acquisition_values(view([0.5], votes=4)) <= 0
    ).all()


@pytest.mark.parametrize(
    ("tally", "done"), [([2, 1], False), ([3, 0], True), ([3, 2], True), ([0, 0], False)]
)
def test_the_first_three_that_agree_decide(tally, done):
    values = find_policy("first_agree[votes=3]").acquisition_values(
        view([0.5], tally=np.array([tally], float))
    )
    assert bool(values[0, 0] <= 0) == done


def test_shortest_runs_throw_out_what_can_be_thrown_out_soon():
    policy = find_policy("shortest_run")
    values = policy.acquisition_values(view([0.9, 0.3], others_hold=np.array([0.9, 0.9])))[0]
    assert values[1] > values[0] > 0
    with pytest.raises(ValueError, match="there are 3 classes"):
        policy.acquisition_values(replace(view([0.5]), posterior=np.ones((1, 3)) / 3))


def test_before_the_switch_the_classifier_is_trained_and_after_it_items_are_finished():
    policy = find_policy("switch_point[switch=0.2]")
    classifier = np.array([[0.5, 0.5], [0.9, 0.1]])
    early = policy.acquisition_values(view([0.999, 0.999], classifier=classifier, share_with_votes=0.1))[0]
    assert early[0] > early[1] > 0
    late = policy.acquisition_values(view([0.999, 0.999], classifier=classifier, share_with_votes=0.3))[0]
    assert (late <= 0).all()
