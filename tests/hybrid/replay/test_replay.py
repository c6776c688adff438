from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.hybrid import Costs, Plan, ReplayResult, Scenario, SimulatedVotes
from crowdpilot.hybrid.replay import replay, replay_scenario
from crowdpilot.votes import Votes
from tests.crowds import one_coin_votes


def make_scenario(items=80, per_item=6, skill=0.85, seed=0):
    votes, truth = one_coin_votes(items, [skill] * 12, 2, per_item, seed)
    return Scenario(np.arange(items), np.arange(2), truth.astype(np.int32), {"": votes})


COSTS = Costs.binary(crowd=0.02)


def test_fixed_redundancy_ends_with_the_majority_of_all_votes_it_took():
    scenario = make_scenario(per_item=5)
    result = replay_scenario(scenario, COSTS, Plan(policy="fixed[votes=5]"))
    assert result.votes[-1] == 5
    majority = (scenario.votes[""].tally().argmax(axis=1) != scenario.truth).mean()
    np.testing.assert_allclose(result.error[-1], majority)
    np.testing.assert_allclose(result.loss, result.error)
    np.testing.assert_allclose(result.spent, 0.02 * result.votes)


@pytest.mark.parametrize("policy", ["value", "first_agree", "posterior_threshold"])
def test_votes_and_money_only_grow_and_never_exceed_what_there_is(policy):
    result = replay_scenario(make_scenario(), COSTS, Plan(policy=policy), batch_size=30)
    for curve in (result.votes, result.spent):
        assert (np.diff(curve) > 0).all()
    assert result.votes[-1] <= 6
    assert result.total == pytest.approx(result.spent[-1] + result.loss[-1])


def test_the_same_seed_is_the_same_replay():
    one, other, another = (
        replay_scenario(make_scenario(), COSTS, Plan(seed=s), batch_size=30).to_dict() for s in (1, 1, 2)
    )
    assert one == other
    assert one["curve"] != another["curve"]
    json.dumps(one)


def test_a_replay_ends_at_the_budget_or_the_maximum_of_votes():
    budget = Costs.binary(crowd=0.02, budget=1.0)
    assert replay_scenario(make_scenario(), budget, Plan(policy="fixed[votes=5]")).spent[-1] * 80 <= 1 + 1e-9
    assert (
        replay_scenario(
            make_scenario(), COSTS, Plan(policy="fixed[votes=5]"), batch_size=40, max_votes_per_item=2
        ).votes[-1]
        == 2
    )


def test_a_simulated_crowd_may_answer_instead():
    scenario = make_scenario()
    skill = np.full((40, 1, 1), 0.9)
    confusion = skill * np.eye(2) + (1 - skill) * (1 - np.eye(2))
    source = SimulatedVotes(scenario.items, scenario.classes, scenario.truth, confusion, seed=0)
    result = replay_scenario(scenario, COSTS, Plan(), source=source)
    assert result.error[-1] < 0.1


def test_items_of_unknown_class_count_for_nothing():
    scenario = make_scenario()
    some = Scenario(
        scenario.items,
        scenario.classes,
        np.where(np.arange(80) < 40, scenario.truth, -1).astype(np.int32),
        scenario.votes,
    )
    result = replay_scenario(some, COSTS, Plan(policy="fixed[votes=6]"))
    wrong = scenario.votes[""].tally().argmax(axis=1) != scenario.truth
    tie = scenario.votes[""].tally()[:, 0] == 3
    assert wrong[:40][~tie[:40]].sum() <= result.error[-1] * 40 <= wrong[:40].sum() + tie[:40].sum()


def test_readings_of_a_curve():
    curve = ReplayResult(
        "any", 0, *np.array([[0, 1, 2, 3], [0, 0, 0, 0], [5, 2, 3, 1], [0] * 4, [0] * 4], float)
    )
    assert curve.at(0.5) == 3.5
    assert curve.votes_for(2) == 3  # at one vote it was there, but did not stay
    assert curve.votes_for(5) == 0
    assert curve.votes_for(0.5) == np.inf


def test_a_replay_of_votes_is_that_of_their_scenario():
    scenario = make_scenario()
    votes = scenario.votes[""]
    expected = replay_scenario(scenario, COSTS, Plan(policy="fixed[votes=3]", seed=2)).to_dict()
    by_name = dict(zip(votes.tasks.tolist(), scenario.truth.tolist(), strict=True))
    for truth in (scenario.truth, scenario.truth.tolist(), by_name):
        assert replay(votes, truth, COSTS, "fixed[votes=3]", seed=2).to_dict() == expected
    gold = replay(votes.with_gold(by_name), None, COSTS, "fixed[votes=3]", seed=2)
    assert gold.to_dict() == expected
    assert np.isnan(replay(votes, None, COSTS, "fixed[votes=3]").loss).all()


def test_a_replay_takes_the_settings_of_a_plan_and_a_classifier():
    votes, truth = make_scenario().votes[""], make_scenario().truth
    plan = Plan(refit_every=10, policy="first_agree")
    result = replay(votes, truth, COSTS, "value", plan=plan, classifier_probs=np.eye(2)[truth])
    assert result.policy == "value"
    assert result.error[0] == 0
    np.testing.assert_allclose(np.diff(result.votes)[0] * 80, 10)


@pytest.mark.parametrize(
    ("truth", "message"), [([0, 1], "for each task"), ([2] * 80, "0 to 1"), ({0: 7}, "not a class")]
)
def test_a_truth_that_does_not_fit_the_votes_is_refused(truth, message):
    with pytest.raises(ValueError, match=message):
        replay(make_scenario().votes[""], truth, COSTS)


def test_tasks_may_be_dates():
    days = np.array(["2026-01-01", "2026-01-02"] * 3, "datetime64[D]")
    votes = Votes.of(days, ["a", "a", "b", "b", "c", "c"], [0, 1, 0, 1, 0, 1])
    assert replay(votes, None, "error=1,crowd=.02").votes[-1] == 3
