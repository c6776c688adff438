from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.value import vote_outcomes
from crowdpilot.hybrid.value.dynamic_program import DynamicProgram
from crowdpilot.hybrid.value.vote_value import (
    best_worker_kind,
    decision_points,
    expected_loss_after,
    look_ahead,
    plan_ahead,
)


def posteriors_and_costs(K=3, items=6, decisions=None, seed=0, sharp=1.0):
    """Posteriors, workers who are right in most cases, and errors of any size."""
    rng = np.random.default_rng(seed)
    confusion = 0.5 * np.eye(K) + 0.5 * rng.dirichlet(np.ones(K), K)
    errors = rng.uniform(0.5, 2, (K, decisions or K))
    errors[np.arange(min(K, decisions or K)), np.arange(min(K, decisions or K))] = 0
    return rng.dirichlet(np.full(K, sharp), items), confusion, errors


def matrix(skill, K=2):
    return np.full((K, K), (1 - skill) / (K - 1)) * (1 - np.eye(K)) + skill * np.eye(K)


def loss_after(p, confusion, errors, n):
    """By the definition: every sequence of votes, its probability, its posterior, its best decision."""
    total = 0.0
    for labels in product(range(confusion.shape[1]), repeat=n):
        joint = p * np.prod(confusion[:, list(labels)], axis=1)
        total += joint.sum() * ((joint / joint.sum()) @ errors).min()
    return total


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_loss_expected_is_that_of_all_sequences_of_votes(K, n):
    probs, confusion, errors = posteriors_and_costs(K, decisions=K + 1)
    expected = [loss_after(p, confusion, errors, n) for p in probs]
    np.testing.assert_allclose(expected_loss_after(probs, confusion, errors, n), expected)


def test_the_value_is_the_best_saving_for_each_vote():
    probs, confusion, errors = posteriors_and_costs()
    saved = [
        [((p @ errors).min() - loss_after(p, confusion, errors, n)) / n for n in (1, 2, 3)] for p in probs
    ]
    np.testing.assert_allclose(
        look_ahead(probs, confusion, errors, ahead=3), np.max(saved, axis=1), atol=1e-15
    )


@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_value_of_a_plan_is_the_highest_price_at_which_the_dynamic_program_asks(K, monkeypatch):
    monkeypatch.setattr(
        "crowdpilot.hybrid.value.vote_value.decision_points", lambda ahead: tuple(range(1, ahead + 1))
    )
    monkeypatch.setattr(vote_outcomes, "MAX_LABELS_ENUMERATED", 5)
    probs, confusion, errors = posteriors_and_costs(K, items=12, sharp=0.4)
    value = plan_ahead(probs, confusion, errors, ahead=4)
    for p, worth in zip(probs, value, strict=True):
        assert not DynamicProgram(confusion, errors, worth + 1e-6, horizon=4).solve([p]).asks[0, 0]
        if worth > 1e-6:
            assert DynamicProgram(confusion, errors, worth - 1e-6, horizon=4).solve([p]).asks[0, 0]


@pytest.mark.parametrize("K", [2, 3, 4, 6, 12])
def test_more_votes_never_leave_more_loss_and_never_less_than_none(K):
    probs, confusion, errors = posteriors_and_costs(K, items=50, sharp=0.3)
    left = np.array(
        [
            (probs @ errors).min(axis=1),
            *(expected_loss_after(probs, confusion, errors, n) for n in range(1, 7)),
        ]
    )
    assert (np.diff(left, axis=0) <= 1e-12).all()
    assert (left >= -1e-12).all()


@pytest.mark.parametrize("K", [2, 3, 6])
def test_a_plan_that_may_stop_gains_more_and_looking_farther_never_less(K):
    probs, confusion, errors = posteriors_and_costs(K, items=100, sharp=0.3)
    at_once = [look_ahead(probs, confusion, errors, ahead=n) for n in (1, 3, 5)]
    plans = [plan_ahead(probs, confusion, errors, ahead=n) for n in (1, 3, 5, 8)]
    assert (np.diff(at_once, axis=0) >= 0).all()
    assert (np.diff(plans, axis=0) >= -1e-8).all()
    np.testing.assert_allclose(plans[0], at_once[0])
    assert (plans[1] >= at_once[1] - 1e-12).all()
    assert (plans[2] <= (probs @ errors).min(axis=1) + 1e-12).all()


def test_one_vote_may_be_worth_nothing_where_three_are_not():
    probs, confusion = np.array([[0.9, 0.1]]), matrix(0.8)
    assert look_ahead(probs, confusion, 1 - np.eye(2), ahead=1) == pytest.approx(0, abs=1e-15)
    assert look_ahead(probs, confusion, 1 - np.eye(2), ahead=3)[0] > 0.01
    assert plan_ahead(probs, confusion, 1 - np.eye(2), ahead=3)[0] > 0.02


def test_workers_who_guess_are_worth_nothing():
    probs, _, errors = posteriors_and_costs(5, items=20)
    for value in (look_ahead, plan_ahead):
        np.testing.assert_allclose(value(probs, np.full((5, 5), 0.2), errors), 0, atol=1e-12)


def test_a_worker_who_knows_is_worth_the_whole_loss():
    probs, _, errors = posteriors_and_costs(6, items=20)
    for value in (look_ahead, plan_ahead):
        np.testing.assert_allclose(value(probs, np.eye(6), errors), (probs @ errors).min(axis=1))


@pytest.mark.parametrize("value", [look_ahead, plan_ahead])
@pytest.mark.parametrize("K", [2, 6])
def test_items_of_their_own_errors_are_valued_as_if_alone(value, K):
    probs, confusion, _ = posteriors_and_costs(K, items=5)
    errors = np.stack([posteriors_and_costs(K, seed=n)[2] for n in range(5)])
    alone = [value(p[None], confusion, own, ahead=4)[0] for p, own in zip(probs, errors, strict=True)]
    np.testing.assert_allclose(value(probs, confusion, errors, ahead=4), alone, atol=1e-9)


@pytest.mark.parametrize("value", [look_ahead, plan_ahead])
@pytest.mark.parametrize("K", [2, 6])
def test_blocks_of_items_make_no_difference(value, K, monkeypatch):
    probs, confusion, errors = posteriors_and_costs(K, items=40, sharp=0.3)
    whole = value(probs, confusion, errors)
    monkeypatch.setattr(vote_outcomes, "MAX_CELLS_PER_BLOCK", 1000)
    np.testing.assert_allclose(value(probs, confusion, errors), whole, atol=1e-9)


@pytest.mark.parametrize("value", [look_ahead, plan_ahead])
@pytest.mark.parametrize("K", [2, 3, 7])
def test_the_floor_changes_no_value_above_it(value, K):
    probs, confusion, errors = posteriors_and_costs(K, items=300, sharp=0.3)
    full, floored = value(probs, confusion, errors), value(probs, confusion, errors, floor=0.1)
    above = full > 0.1 + 1e-8
    assert 0 < above.sum() < 300
    np.testing.assert_allclose(floored[above], full[above], rtol=1e-6)
    assert (floored[~above] <= full[~above] + 1e-8).all()
    assert (floored >= 0).all()


@pytest.mark.parametrize("sharp", [0.1, 1.0])
@pytest.mark.parametrize("skill", [0.5, 0.9])
def test_many_classes_are_seen_through_the_likeliest(sharp, skill, monkeypatch):
    """Beside all outcomes: never too much, and in the mean a few percent too little."""
    probs, confusion, errors = posteriors_and_costs(6, items=60, sharp=sharp)
    confusion = skill * np.eye(6) + (1 - skill) * confusion
    few = [look_ahead(probs, confusion, errors, ahead=4), plan_ahead(probs, confusion, errors, ahead=4)]
    monkeypatch.setattr(vote_outcomes, "MAX_LABELS_ENUMERATED", 6)
    every = [look_ahead(probs, confusion, errors, ahead=4), plan_ahead(probs, confusion, errors, ahead=4)]
    for found, exact in zip(few, every, strict=True):
        assert (found <= exact + 0.01 * exact.max()).all()
        assert found.sum() >= 0.93 * exact.sum()


def with_hard(probs, confusion, errors, share=0.3):
    """Every class twice: of easy items, and of hard ones about which workers guess."""
    guess = np.full_like(confusion, 1 / confusion.shape[1])
    both = np.concatenate([probs * (1 - share), probs * share], axis=1)
    return both, np.concatenate([confusion, guess]), np.concatenate([errors, errors])


@pytest.mark.parametrize("K", [2, 3, 5])
def test_there_may_be_more_classes_than_labels(K, monkeypatch):
    probs, confusion, errors = with_hard(*posteriors_and_costs(K, sharp=0.3))
    monkeypatch.setattr(vote_outcomes, "MAX_LABELS_ENUMERATED", 5)
    expected = [loss_after(p, confusion, errors, 3) for p in probs]
    np.testing.assert_allclose(expected_loss_after(probs, confusion, errors, 3), expected)


@pytest.mark.parametrize("value", [look_ahead, plan_ahead])
@pytest.mark.parametrize("K", [2, 6])
def test_items_that_may_be_hard_are_worth_fewer_votes(value, K):
    easy = posteriors_and_costs(K, items=40, sharp=0.3)
    hard = with_hard(*easy)
    assert value(*hard, ahead=5).sum() < 0.9 * value(*easy, ahead=5).sum()
    same = with_hard(*easy, share=0.0)
    np.testing.assert_allclose(value(*same, ahead=5), value(*easy, ahead=5), atol=1e-8)


@given(st.integers(2, 6), st.integers(0, 1000))
def test_the_order_of_classes_and_the_currency_do_not_matter(K, seed):
    probs, confusion, errors = posteriors_and_costs(K, seed=seed)
    order = np.random.default_rng(seed).permutation(K)
    for value in (look_ahead, plan_ahead):
        found = value(probs, confusion, errors, ahead=3)
        turned = value(probs[:, order], confusion[order][:, order], errors[order], ahead=3)
        np.testing.assert_allclose(turned, found, atol=1e-8)
        np.testing.assert_allclose(value(probs, confusion, 100 * errors, ahead=3), 100 * found, atol=1e-6)


def test_a_plan_decides_at_the_numbers_of_fibonacci():
    assert [decision_points(n) for n in (1, 2, 5, 10)] == [(1,), (1, 2), (1, 2, 3, 5), (1, 2, 3, 5, 8, 10)]


def test_an_expert_is_asked_where_the_crowd_saves_less_for_its_price():
    probs = np.array([[0.5, 0.5], [0.99, 0.01]])
    confusion = {"crowd": matrix(0.6), "expert": matrix(0.99)}
    for price, best in ((0.05, 1), (10.0, 0)):
        costs = Costs.equal(2, crowd=0.02, expert=price)
        kind, value = best_worker_kind(probs, confusion, costs)
        worth = [plan_ahead(probs, s, costs.errors) / costs.price(name) for name, s in confusion.items()]
        assert kind[0] == best
        np.testing.assert_allclose(value, np.max(worth, axis=0))


def test_of_workers_for_free_the_most_useful_is_asked_and_useless_ones_are_worth_nothing():
    probs = np.array([[0.5, 0.5], [1.0, 0.0]])
    confusion = {"a": matrix(0.6), "b": matrix(0.9), "c": matrix(0.99)}
    kind, value = best_worker_kind(probs, confusion, Costs.equal(2, a=0.0, b=0.0, c=0.1), ahead=3)
    assert kind[0] == 1
    assert value.tolist() == [np.inf, 0]


def test_no_item_has_no_value():
    for value in (look_ahead, plan_ahead):
        assert value(np.zeros((0, 2)), matrix(0.8), 1 - np.eye(2)).shape == (0,)


def test_wrong_input_is_refused():
    probs, confusion, errors = posteriors_and_costs()
    with pytest.raises(ValueError, match=r"expected \(items, classes\)"):
        look_ahead(probs[0], confusion, errors)
    with pytest.raises(ValueError, match=r"expected \(true, said\)"):
        look_ahead(probs, confusion[:2], errors)
    with pytest.raises(ValueError, match=r"expected \(classes, decisions\)"):
        plan_ahead(probs, confusion, np.stack([errors] * 2))
    with pytest.raises(ValueError, match="1 or more"):
        plan_ahead(probs, confusion, errors, ahead=0)
    with pytest.raises(ValueError, match="no kind"):
        best_worker_kind(probs, {}, Costs.equal(3))
