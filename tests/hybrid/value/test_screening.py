from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.hybrid.value.dynamic_program import DynamicProgram
from crowdpilot.hybrid.value.screening import inclusion_probability, others_hold, screening_errors
from crowdpilot.hybrid.value.vote_value import expected_loss_after, look_ahead, plan_ahead

ERRORS = np.array([[0.0, 1.0], [5.0, 0.0]])
CONFUSION = np.array([[0.9, 0.1], [0.2, 0.8]])


def questions(items=40, seed=0, zeros=0.2):
    """Items with one to five criteria in any order, some of which cannot hold or must hold."""
    rng = np.random.default_rng(seed)
    item = rng.permutation(np.repeat(np.arange(items), rng.integers(1, 6, items)))
    holds = rng.beta(0.7, 0.4, len(item))
    fixed = rng.random(len(item))
    return np.where(fixed < zeros / 2, 0.0, np.where(fixed < zeros, 1.0, holds)), item


def both(holds):
    return np.column_stack([1 - holds, holds])


def test_an_item_is_in_if_all_of_its_criteria_hold():
    holds, item = questions()
    expected = [np.prod(holds[item == i]) for i in range(41)]  # the last one has no criterion
    np.testing.assert_allclose(inclusion_probability(holds, item, 41), expected)


def test_the_other_criteria_are_all_but_one():
    holds, item = questions()
    expected = [np.prod(np.delete(holds, q)[np.delete(item, q) == item[q]]) for q in range(len(item))]
    np.testing.assert_allclose(others_hold(holds, item), expected)


def test_very_many_criteria_and_very_small_probabilities_do_no_harm():
    holds = np.full(2000, 1e-3)
    assert (others_hold(holds, np.zeros(2000, int)) == 0).all()
    np.testing.assert_allclose(others_hold([1e-300, 0.5], [0, 0]), [0.5, 1e-300])
    np.testing.assert_allclose(others_hold(np.full(2000, 1 - 1e-6), np.zeros(2000, int)), (1 - 1e-6) ** 1999)


def test_every_question_of_an_item_sees_the_same_loss():
    holds, item = questions()
    errors = screening_errors(holds, item, ERRORS)
    seen = np.einsum("qk,qkd->qd", both(holds), errors).min(axis=1)
    probability = inclusion_probability(holds, item, 40)
    np.testing.assert_allclose(seen, (both(probability) @ ERRORS).min(axis=1)[item], atol=1e-15)


def test_a_vote_about_a_criterion_is_valued_by_the_decision_about_the_item():
    holds, item = np.array([0.7, 0.4, 0.9]), np.zeros(3, int)
    errors = screening_errors(holds, item, ERRORS)
    for q in range(3):
        loss = 0.0
        for label in range(2):
            joint = both(holds)[q] * CONFUSION[:, label]
            updated = holds.copy()
            updated[q] = joint[1] / joint.sum()
            loss += joint.sum() * (both(inclusion_probability(updated, item, 1)) @ ERRORS).min()
        found = expected_loss_after(both(holds), CONFUSION, errors, 1)[q]
        np.testing.assert_allclose(found, loss)


def test_a_criterion_of_an_item_that_is_out_anyway_is_not_worth_a_vote():
    holds, item = np.array([0.5, 0.0, 0.5]), np.array([0, 0, 1])
    errors = screening_errors(holds, item, ERRORS)
    for value in (look_ahead, plan_ahead):
        found = value(both(holds), CONFUSION, errors)
        assert found[0] == pytest.approx(0, abs=1e-12)
        assert found[2] > 0.1


def test_one_criterion_is_a_binary_question():
    holds = np.linspace(0.05, 0.95, 7)
    errors = screening_errors(holds, np.arange(7), ERRORS)
    np.testing.assert_allclose(errors, np.broadcast_to(ERRORS, (7, 2, 2)))
    shared, own = (plan_ahead(both(holds), CONFUSION, e, ahead=5) for e in (ERRORS, errors))
    np.testing.assert_allclose(shared, own, atol=1e-12)
    asks = DynamicProgram(CONFUSION, ERRORS, price=0.2, horizon=5).solve(both(holds)).asks[:, 0]
    assert 0 < asks.sum() < 7  # the price separates the items
    np.testing.assert_array_equal(own > 0.2, asks)


def test_no_question_gives_nothing():
    assert inclusion_probability([], [], 2).tolist() == [1, 1]
    assert screening_errors([], [], ERRORS).shape == (0, 2, 2)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="one for each question"):
        others_hold([0.5, 0.5], [0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        others_hold([1.5], [0])
    with pytest.raises(ValueError, match="numbers from 0"):
        others_hold([0.5], [-1])
    with pytest.raises(ValueError, match="numbers below 1"):
        inclusion_probability([0.5], [1], 1)
    with pytest.raises(ValueError, match="out or in"):
        screening_errors([0.5], [0], np.eye(3))
