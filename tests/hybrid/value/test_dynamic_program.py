from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from crowdpilot.arrays import to_probs
from crowdpilot.hybrid.value.dynamic_program import DynamicProgram
from crowdpilot.hybrid.value.vote_value import look_ahead, plan_ahead


def matrix(skill, K=2):
    return np.full((K, K), (1 - skill) / (K - 1)) * (1 - np.eye(K)) + skill * np.eye(K)


def pool(K=2, items=9, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(K), items)


def optimal_cost(p, program, left):
    """By the definition, over all sequences of votes."""
    stop = (p @ program.errors).min()
    if left == 0:
        return stop
    ask = program.price
    for label in range(program.confusion.shape[1]):
        joint = p * program.confusion[:, label]
        ask += joint.sum() * optimal_cost(joint / joint.sum(), program, left - 1)
    return min(stop, ask)


def expected_votes_and_loss(p, program, rule, left):
    """Expected votes and loss of a rule, over all sequences of votes."""
    if left == 0 or not rule(p[None])[0]:
        return np.array([0.0, (p @ program.errors).min()])
    result = np.array([1.0, 0.0])
    for label in range(program.confusion.shape[1]):
        joint = p * program.confusion[:, label]
        result += joint.sum() * expected_votes_and_loss(joint / joint.sum(), program, rule, left - 1)
    return result


@pytest.fixture(params=[2, 3])
def program(request):
    """Workers who mistake some classes more than others, and errors that cost more or less."""
    K, rng = request.param, np.random.default_rng(request.param)
    confusion = 0.6 * np.eye(K) + 0.4 * rng.dirichlet(np.ones(K), K)
    return DynamicProgram(confusion, rng.uniform(0.5, 3, (K, K)) * (1 - np.eye(K)), price=0.06, horizon=6)


def test_the_optimum_is_that_over_all_sequences_of_votes(program):
    probs = pool(len(program.confusion))
    expected = [optimal_cost(p, program, 6) for p in probs]
    np.testing.assert_allclose(program.solve(probs).cost, expected)


def test_a_rule_does_what_it_does_over_all_sequences_of_votes(program):
    probs = pool(len(program.confusion))

    def unsure(posteriors):
        return posteriors.max(axis=1) < 0.85

    result = program.evaluate(probs, unsure)
    votes, loss = np.transpose([expected_votes_and_loss(p, program, unsure, 6) for p in probs])
    np.testing.assert_allclose(result.votes, votes)
    np.testing.assert_allclose(result.loss, loss)
    np.testing.assert_allclose(result.cost, loss + 0.06 * votes)


def test_the_cost_is_that_of_votes_and_errors(program):
    result = program.solve(pool(len(program.confusion)))
    assert result.votes.max() > 1
    np.testing.assert_allclose(result.cost, result.loss + program.price * result.votes)


@pytest.mark.parametrize("sure", [0.6, 0.8, 0.95, 1.1])
def test_no_rule_costs_less_than_the_optimum(program, sure):
    probs = pool(len(program.confusion), items=50)
    rule = program.evaluate(probs, lambda posteriors: posteriors.max(axis=1) < sure)
    assert (rule.cost >= program.solve(probs).cost - 1e-12).all()


def test_identical_workers_are_asked_while_the_posterior_is_between_two_thresholds():
    """Wald's sequential test: the posterior is all that counts, whatever the votes were."""
    program = DynamicProgram(matrix(0.75), np.array([[0.0, 1.0], [4.0, 0.0]]), price=0.02, horizon=60)
    positive = expit(np.linspace(-7, 7, 801))
    asks = program.solve(np.column_stack([1 - positive, positive])).asks[:, 0]
    assert np.abs(np.diff(asks.astype(int))).sum() == 2
    low, high = positive[asks][[0, -1]]
    assert low < 0.2 < high  # where both decisions cost the same

    def between(posteriors):
        return (posteriors[:, 1] >= low) & (posteriors[:, 1] <= high)

    probs = pool(items=20)
    np.testing.assert_allclose(
        program.evaluate(probs, between).cost.sum(), program.solve(probs).cost.sum(), rtol=1e-3
    )


def test_a_longer_horizon_costs_less_until_it_does_not_matter():
    probs = pool(items=20)
    costs = [
        DynamicProgram(matrix(0.8), 1 - np.eye(2), 0.01, h).solve(probs).cost for h in (0, 1, 3, 9, 30, 60)
    ]
    assert (np.diff(costs, axis=0) <= 1e-12).all()
    np.testing.assert_allclose(costs[0], probs.min(axis=1))
    np.testing.assert_allclose(costs[-2], costs[-1], rtol=1e-3)


def test_votes_for_free_are_asked_to_the_end_unless_they_change_nothing():
    result = DynamicProgram(matrix(0.7), 1 - np.eye(2), 0.0, 9).solve([[0.5, 0.5], [1.0, 0.0]])
    assert result.votes[0] > 5
    np.testing.assert_allclose(result.votes[1], 0)


def test_labels_that_never_occur_do_no_harm():
    confusion = np.array(
        [[1.0, 0.0, 0.0], [0.0, 0.9, 0.1]]
    )  # a third label, and a class that is never mistaken
    result = DynamicProgram(confusion, 1 - np.eye(2), 0.05, 4).solve([[0.5, 0.5]])
    np.testing.assert_allclose(result.cost, 0.05)
    np.testing.assert_allclose(result.votes, 1)


@pytest.mark.parametrize("skill", [0.65, 0.8, "uneven"])
@pytest.mark.parametrize(("K", "horizon"), [(2, 50), (3, 18)])
@pytest.mark.parametrize("ratio", [1, 10])
def test_to_ask_while_the_value_exceeds_the_price_is_within_one_percent(skill, K, horizon, ratio):
    uneven = to_probs(np.eye(K) + 0.4 * np.arange(1, K + 1)[:, None] / K)
    confusion = uneven if skill == "uneven" else matrix(skill, K)
    errors = (1 - np.eye(K)) * np.geomspace(1, ratio, K)[:, None]
    program = DynamicProgram(confusion, errors, price=0.03, horizon=horizon)
    probs = pool(K, items=8)
    best = program.solve(probs).cost.sum()

    def cost(value):
        return program.evaluate(
            probs, lambda posteriors: value(posteriors, confusion, errors, floor=0.03) > 0.03
        ).cost.sum()

    assert best - 1e-9 <= cost(plan_ahead) <= 1.01 * best
    assert cost(plan_ahead) < cost(look_ahead)  # who cannot stop early sees less value


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="same classes"):
        DynamicProgram(matrix(0.8), np.eye(3), 0.1, 5)
    with pytest.raises(ValueError, match="0 or more"):
        DynamicProgram(matrix(0.8), np.eye(2), -0.1, 5)
    with pytest.raises(ValueError, match=r"expected \(items, 2\)"):
        DynamicProgram(matrix(0.8), np.eye(2), 0.1, 5).solve([[0.2, 0.3, 0.5]])
