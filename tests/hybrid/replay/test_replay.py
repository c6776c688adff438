from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.hybrid import Case, Costs, Plan, Replayed, Simulated
from crowdpilot.hybrid.replay import replay
from crowdpilot.votes import Votes


def made(items=80, per_item=6, skill=0.85, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=items)
    item = np.repeat(np.arange(items), per_item)
    worker = np.concatenate([rng.permutation(12)[:per_item] for _ in range(items)])
    label = np.where(rng.random(len(item)) < skill, truth[item], 1 - truth[item])
    votes = Votes(item, worker, label, np.arange(items), np.arange(12), np.arange(2))
    return Case(np.arange(items), np.arange(2), truth.astype(np.int32), {"": votes})


COSTS = Costs.binary(crowd=0.02)


def test_fixed_redundancy_ends_with_the_majority_of_all_votes_it_took():
    case = made(per_item=5)
    found = replay(case, COSTS, Plan(policy="fixed[votes=5]"))
    assert found.votes[-1] == 5
    majority = (case.votes[""].tally().argmax(axis=1) != case.truth).mean()
    np.testing.assert_allclose(found.error[-1], majority)
    np.testing.assert_allclose(found.loss, found.error)
    np.testing.assert_allclose(found.spent, 0.02 * found.votes)


@pytest.mark.parametrize("policy", ["value", "first_agree", "posterior_threshold"])
def test_votes_and_money_only_grow_and_never_exceed_what_there_is(policy):
    found = replay(made(), COSTS, Plan(policy=policy), batch=30)
    for curve in (found.votes, found.spent):
        assert (np.diff(curve) > 0).all()
    assert found.votes[-1] <= 6
    assert found.total == pytest.approx(found.spent[-1] + found.loss[-1])


def test_the_same_seed_is_the_same_replay():
    one, other, another = (replay(made(), COSTS, Plan(seed=s), batch=30).to_dict() for s in (1, 1, 2))
    assert one == other
    assert one["curve"] != another["curve"]
    json.dumps(one)


def test_a_replay_ends_at_the_budget_or_the_votes_given():
    budget = Costs.binary(crowd=0.02, budget=1.0)
    assert replay(made(), budget, Plan(policy="fixed[votes=5]")).spent[-1] * 80 <= 1 + 1e-9
    assert replay(made(), COSTS, Plan(policy="fixed[votes=5]"), batch=40, most=2).votes[-1] == 2


def test_a_simulated_crowd_may_answer_instead():
    case = made()
    skill = np.full((40, 1, 1), 0.9)
    confusion = skill * np.eye(2) + (1 - skill) * (1 - np.eye(2))
    world = Simulated(case.items, case.classes, case.truth, confusion, seed=0)
    found = replay(case, COSTS, Plan(), world=world)
    assert found.error[-1] < 0.1


def test_items_of_unknown_class_count_for_nothing():
    case = made()
    some = Case(
        case.items, case.classes, np.where(np.arange(80) < 40, case.truth, -1).astype(np.int32), case.votes
    )
    found = replay(some, COSTS, Plan(policy="fixed[votes=6]"))
    wrong = case.votes[""].tally().argmax(axis=1) != case.truth
    tie = case.votes[""].tally()[:, 0] == 3
    assert wrong[:40][~tie[:40]].sum() <= found.error[-1] * 40 <= wrong[:40].sum() + tie[:40].sum()


def test_readings_of_a_curve():
    curve = Replayed("any", 0, *np.array([[0, 1, 2, 3], [0, 0, 0, 0], [5, 2, 3, 1], [0] * 4, [0] * 4], float))
    assert curve.at(0.5) == 3.5
    assert curve.votes_for(2) == 3  # at one vote it was there, but did not stay
    assert curve.votes_for(5) == 0
    assert curve.votes_for(0.5) == np.inf
