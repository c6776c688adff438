from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.hybrid import POLICIES, Campaign, Costs, Plan, find_policy
from crowdpilot.hybrid.policies import View
from crowdpilot.hybrid.value.look_ahead import look_ahead, plan_ahead

SAID = np.array([[0.8, 0.2], [0.2, 0.8]])
EXPERT = np.array([[0.98, 0.02], [0.02, 0.98]])


def view(probs, votes=0, pending=0, **changes):
    """Items of which this is believed, with the same number of votes each."""
    P = np.column_stack([1 - np.asarray(probs, float), probs])
    n = len(P)
    tally = np.zeros((n, 2))
    tally[:, 0] = votes
    seen = View(
        P, None, tally, np.full(n, float(pending)), 1 - np.eye(2), np.stack([SAID, EXPERT]),
        np.array([0.02, 0.2]), np.ones(n),
    )  # fmt: skip
    return replace(seen, **changes)


@pytest.mark.parametrize("reached", [0.1, 0.9])
@pytest.mark.parametrize("name", POLICIES)
def test_a_wish_for_each_kind_and_item_that_does_not_depend_on_other_items(name, reached):
    policy = find_policy(name)
    tally = np.array([[0, 0], [1, 0], [1, 1], [0, 2], [0, 4]], float)
    seen = view([0.1, 0.4, 0.5, 0.9, 0.9999], tally=tally, reached=reached)
    every = policy.want(seen)
    assert every.shape == (2, 5)
    assert not np.isnan(every).any()
    for n in range(5):
        alone = policy.want(view(seen.probs[[n], 1], tally=tally[[n]], reached=reached))
        np.testing.assert_allclose(alone[:, 0], every[:, n], rtol=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_a_sure_item_with_votes_is_wanted_by_nobody(name):
    assert (find_policy(name).want(view([1e-9, 1 - 1e-9], votes=50)) <= 0).all()


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_written_as_it_is_read(name):
    policy = find_policy(name)
    assert str(policy) == name
    assert find_policy(str(policy)) == policy


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_comes_to_an_end(name):
    rng = np.random.default_rng(0)
    machine = rng.dirichlet([0.7, 0.7], 40)
    campaign = Campaign(
        range(40), [0, 1], Costs.binary(crowd=0.05), plan=Plan(policy=name, pilot=5), machine=machine
    )
    truth = (rng.random(40) < machine[:, 1]).astype(int)
    for worker in range(200):
        asks = campaign.ask(f"worker {worker}", 20)
        if not asks and not campaign.fresh:
            break
        told = [(a.item, f"worker {worker}", int(truth[a.item] ^ (rng.random() < 0.15))) for a in asks]
        campaign.tell(told, refit=not asks or None)
    else:
        pytest.fail("it asks for ever")
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
    want = find_policy(policy).want(seen)
    gains = np.stack([look(seen.probs, said, seen.errors, ahead=5) for said in seen.said])
    rate = gains / seen.prices[:, None]
    np.testing.assert_allclose(want.max(axis=0), rate.max(axis=0) - 1)
    np.testing.assert_array_equal(want.argmax(axis=0), rate.argmax(axis=0))


def test_value_waits_for_what_was_asked_already():
    assert (find_policy("value").want(view([0.5], pending=1)) <= 0).all()


def test_value_counts_what_a_first_label_teaches():
    sure = [0.999]
    value = find_policy("value")
    assert (value.want(view(sure)) <= 0).all()
    assert (value.want(view(sure, training=0.1)) > 0).any()
    assert (value.want(view(sure, votes=1, training=0.1)) <= 0).all()
    assert (find_policy("value[training=False]").want(view(sure, training=0.1)) <= 0).all()


def test_fixed_redundancy_counts_votes_that_will_come():
    policy = find_policy("fixed[votes=3]")
    assert policy.want(view([0.5], votes=2))[0, 0] > 0
    assert policy.want(view([0.5], votes=2, pending=1))[0, 0] <= 0
    assert policy.want(view([0.999], votes=0))[0, 0] > 0  # whatever is believed


def test_a_confident_machine_decides_alone():
    policy = find_policy("machine_threshold[confidence=0.9,votes=2]")
    machine = np.array([[0.95, 0.05], [0.6, 0.4]])
    want = policy.want(view([0.5, 0.5], machine=machine))[0]
    assert want[0] <= 0 < want[1]


def test_the_least_sure_item_comes_first_until_it_retires():
    want = find_policy("belief_threshold[belief=0.9]").want(view([0.5, 0.7, 0.95]))[0]
    assert want[0] > want[1] > 0 >= want[2]
    assert (find_policy("belief_threshold[most=4]").want(view([0.5], votes=4)) <= 0).all()


@pytest.mark.parametrize(
    ("tally", "done"), [([2, 1], False), ([3, 0], True), ([3, 2], True), ([0, 0], False)]
)
def test_the_first_three_that_agree_decide(tally, done):
    want = find_policy("first_agree[votes=3]").want(view([0.5], tally=np.array([tally], float)))
    assert bool(want[0, 0] <= 0) == done


def test_shortest_runs_throw_out_what_can_be_thrown_out_soon():
    policy = find_policy("shortest_run")
    want = policy.want(view([0.9, 0.3], rest=np.array([0.9, 0.9])))[0]
    assert want[1] > want[0] > 0
    with pytest.raises(ValueError, match="there are 3 classes"):
        policy.want(replace(view([0.5]), probs=np.ones((1, 3)) / 3))


def test_before_the_switch_the_machine_is_taught_and_after_it_items_are_finished():
    policy = find_policy("switch_point[switch=0.2]")
    machine = np.array([[0.5, 0.5], [0.9, 0.1]])
    early = policy.want(view([0.999, 0.999], machine=machine, reached=0.1))[0]
    assert early[0] > early[1] > 0
    late = policy.want(view([0.999, 0.999], machine=machine, reached=0.3))[0]
    assert (late <= 0).all()
