"""Who answers without looking is found, who looks and errs is not."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from crowdpilot.aggregation import DawidSkene, MajorityVoting
from crowdpilot.diagnosis import leave_one_out_posteriors, spam_distance, spam_probability, spam_score
from crowdpilot.diagnosis.false_discovery_rate import flag_by_posterior
from crowdpilot.simulation import HammerSpammer, one_coin
from crowdpilot.votes import Votes
from tests.crowds import confusion_votes

matrices = st.builds(
    lambda K, seed: np.random.default_rng(seed).dirichlet(np.full(K, 0.7), K),
    K=st.integers(2, 6),
    seed=st.integers(0, 1000),
)


@settings(max_examples=20, deadline=None)
@given(matrices)
def test_the_distance_is_the_smallest_from_any_matrix_with_equal_rows(matrix: np.ndarray) -> None:
    def cost(row: np.ndarray) -> float:
        return float(((matrix - row) ** 2).sum())

    found = minimize(cost, np.full(len(matrix), 1 / len(matrix)), tol=1e-12)
    assert spam_distance(matrix[None])[0] == pytest.approx(found.fun, abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(matrices)
def test_the_score_is_the_sum_over_pairs_of_raykar_and_yu(matrix: np.ndarray) -> None:
    K = len(matrix)
    total = sum(((matrix[c] - matrix[d]) ** 2).sum() for c, d in combinations(range(K), 2))
    assert spam_score(matrix[None])[0] == pytest.approx(total / (K * (K - 1)))


@pytest.mark.parametrize("K", [2, 3, 10, 100])
def test_a_perfect_worker_scores_one_and_a_spammer_zero(K: int) -> None:
    row = np.random.default_rng(K).dirichlet(np.ones(K))
    both = np.stack([np.eye(K), np.roll(np.eye(K), 1, axis=1), np.tile(row, (K, 1))])
    np.testing.assert_allclose(spam_score(both), [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(spam_distance(both), [K - 1, K - 1, 0], atol=1e-12)


def test_with_one_class_nobody_is_a_spammer() -> None:
    assert spam_score(np.ones((3, 1, 1))).tolist() == [0, 0, 0]
    loo = leave_one_out_posteriors(MajorityVoting().fit(Votes.of([1, 2], ["x", "y"], ["a", "a"])))
    assert spam_probability(loo).tolist() == [0, 0]


def coin(skill: float, K: int) -> np.ndarray:
    return skill * np.eye(K) + (1 - skill) * (1 - np.eye(K)) / (K - 1)


def among_honest(odd: list[np.ndarray], seed: int, *, low: float = 0.65, tasks: int = 500, prior=None):
    """How probably each of these workers spams, after 40 honest ones; their votes too."""
    K = len(odd[0])
    skill = np.random.default_rng(seed).uniform(low, 0.95, 40)
    confusion = np.stack([*(coin(s, K) for s in skill), *odd])
    votes, _ = confusion_votes(confusion, tasks, 12, seed, prior)
    return spam_probability(leave_one_out_posteriors(DawidSkene().fit(votes)))


def spammer(K: int, kind: str) -> np.ndarray:
    rows = {
        "any": np.full(K, 1 / K),
        "always the same": np.eye(K)[1],
        "a favourite": np.append(0.7, np.full(K - 1, 0.3 / (K - 1))),
        "two of them": np.append([0.5, 0.5], np.zeros(K - 2)),
    }
    return np.tile(rows[kind], (K, 1))


@pytest.mark.parametrize("kind", ["any", "always the same", "a favourite", "two of them"])
@pytest.mark.parametrize("K", [2, 4, 10])
def test_spammers_are_found_among_honest_workers(kind: str, K: int) -> None:
    found = flag_by_posterior(among_honest([spammer(K, kind)] * 4, seed=1, tasks=1000), 0.05)
    assert found[40:].all()
    assert not found[:40].any()


def test_a_worker_who_swaps_classes_consistently_is_no_spammer() -> None:
    swaps = np.roll(coin(0.9, 4), 1, axis=1)
    assert among_honest([swaps, spammer(4, "any")], seed=0)[40:].round(2).tolist() == [0, 1]


def test_an_honest_worker_with_a_bias_is_no_spammer() -> None:
    biased = np.array([[0.95, 0.05], [0.5, 0.5]])
    found = [among_honest([biased] * 3, seed, tasks=1500)[40:] for seed in range(4)]
    assert np.max(found) < 0.3


def test_nobody_among_honest_workers_is_flagged() -> None:
    for seed in range(3):
        for K in (2, 4):
            assert not flag_by_posterior(among_honest([coin(0.6, K)], seed, low=0.6), 0.05).any()


def test_who_votes_for_the_class_of_most_tasks_is_judged_by_the_others() -> None:
    found = among_honest([spammer(2, "any"), np.tile([0.95, 0.05], (2, 1))], 2, low=0.8, prior=[0.9, 0.1])
    assert found[40:].min() > 0.5
    assert not flag_by_posterior(found, 0.05)[:40].any()


@pytest.mark.parametrize("K", [2, 4, 10])
def test_three_votes_are_too_few_to_be_called_a_spammer(K: int) -> None:
    skill = np.r_[np.full(20, 1 / K), np.random.default_rng(0).uniform(0.5, 0.95, 180)]
    votes, _ = confusion_votes(np.stack([coin(s, K) for s in skill]), 120, 5, seed=K)
    loo = leave_one_out_posteriors(DawidSkene().fit(votes))
    flags = flag_by_posterior(spam_probability(loo), 0.05)
    assert not flags[loo.worker_votes <= 3].any()


def test_the_more_votes_the_surer() -> None:
    found = [among_honest([spammer(4, "any")] * 3, 0, tasks=tasks)[40:].mean() for tasks in (20, 100, 500)]
    assert found == sorted(found)
    assert found[0] < 0.8 < 0.98 < found[2]


def test_workers_without_votes_are_not_judged(simulated) -> None:
    votes, _ = simulated
    found = spam_probability(leave_one_out_posteriors(DawidSkene().fit(replace(votes, workers=np.arange(9)))))
    assert np.isnan(found[8])
    assert ((found[:8] >= 0) & (found[:8] <= 1)).all()


def test_the_seed_decides(simulated) -> None:
    loo = leave_one_out_posteriors(DawidSkene().fit(simulated[0]))
    np.testing.assert_array_equal(spam_probability(loo, 3), spam_probability(loo, 3))
    np.testing.assert_allclose(spam_probability(loo, 3), spam_probability(loo, 4), atol=0.1)


def test_renaming_the_classes_changes_nothing() -> None:
    made = HammerSpammer(tasks=200, workers=20, classes=3, ratio=0.2, votes_per_task=8).run()
    new = np.array([2, 0, 1])
    one, other = (
        spam_probability(leave_one_out_posteriors(DawidSkene().fit(v)))
        for v in (made.votes, replace(made.votes, label=new[made.votes.label]))
    )
    np.testing.assert_allclose(one, other, atol=0.05)  # the last kind is drawn


def test_a_hundred_classes_flag_nobody_who_is_honest() -> None:
    made = one_coin(tasks=200, skill=[0.8] * 190 + [0.01] * 10, classes=100, votes_per_task=20, seed=0)
    found = spam_probability(leave_one_out_posteriors(MajorityVoting().fit(made.votes)))
    assert found[:190].max() < 0.5
