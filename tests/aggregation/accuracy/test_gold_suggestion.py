"""Which tasks to check: the greedy choice, what it predicts, and what checks then give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation import Auto, DawidSkene, aggregate, suggest_gold
from crowdpilot.aggregation.accuracy.gold_suggestion import OpenTasks, choose_tasks, variance_falls
from crowdpilot.calibration.experience import CrowdMap, load_experience
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes

SKILL = [0.9, 0.85, 0.7, 0.6, 0.6]


def width(estimate):
    return estimate.high - estimate.low


def random_features(tasks, seed):
    """Features as those of real crowds: nearly all decided, log-odds that go together."""
    rng = np.random.default_rng(seed)
    decided = np.where(rng.random(tasks) < 0.9, 1.0, rng.random(tasks))
    votes = rng.gamma(2.0, 1.0, tasks)
    return np.column_stack([decided, votes, votes * rng.uniform(0.3, 1.0, tasks)])


def test_the_fall_of_the_variance_is_that_of_the_inverse():
    rng = np.random.default_rng(0)
    x, slope = random_features(12, 0), rng.uniform(0.01, 0.25, 12)
    S, total = load_experience().covariance, slope @ x

    def variance(checked):
        rest = np.setdiff1d(np.arange(12), checked)
        information = (x[checked] * slope[checked, None]).T @ x[checked]
        g = slope[rest] @ x[rest]
        return g @ np.linalg.inv(np.linalg.inv(S) + information) @ g + slope[rest].sum()

    expected = [variance(np.array([], int)) - variance(np.array([n])) for n in range(12)]
    np.testing.assert_allclose(variance_falls(S, total, x, slope), expected)


def test_without_tolerance_every_choice_is_the_best_of_all():
    prior, x = load_experience(), random_features(10, 1)
    tasks = OpenTasks(prior, np.arange(10), x, 0)
    order, covariances = choose_tasks(tasks, 3, np.random.default_rng(0), min_gain=1.0)
    p = prior.confidence(x)
    slope = p * (1 - p) / np.sqrt(1 + np.pi * np.einsum("if,fg,ig->i", x, prior.covariance, x) / 8)

    def variance(checked):
        rest = np.setdiff1d(np.arange(10), checked)
        information = (x[checked] * slope[checked, None]).T @ x[checked]
        g = slope[rest] @ x[rest]
        return g @ np.linalg.inv(np.linalg.inv(prior.covariance) + information) @ g + slope[rest].sum()

    chosen = []
    for n in range(3):
        best = min((k for k in range(10) if k not in chosen), key=lambda k: variance(np.array([*chosen, k])))
        chosen.append(best)
        assert order[n] == best
    information = (x[chosen] * slope[chosen, None]).T @ x[chosen]
    np.testing.assert_allclose(covariances[3], np.linalg.inv(np.linalg.inv(prior.covariance) + information))


def test_equally_good_tasks_are_spread_over_the_confidence():
    prior, x = load_experience(), random_features(1000, 2)
    order, _ = choose_tasks(OpenTasks(prior, np.arange(1000), x, 0), 16, np.random.default_rng(0), min_gain=0)
    rank = np.argsort(np.argsort(prior.confidence(x)))[order]
    assert np.bincount(rank // 250, minlength=4).min() >= 2


def test_seeds_differ_and_one_seed_gives_the_same_tasks():
    votes, _ = one_coin(tasks=300, skill=SKILL, seed=0)
    result = aggregate(votes)
    first, again, other = (suggest_gold(result, 20, seed=seed).tasks.tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert len(set(first)) == 20


def test_the_interval_narrows_about_as_predicted_and_holds():
    """Crowds drawn from the experience itself, so that its distribution is the true one."""
    prior, x = load_experience(), random_features(600, 3)
    root = np.linalg.cholesky(prior.covariance)
    order, covariances = choose_tasks(OpenTasks(prior, np.arange(600), x, 0), 50, np.random.default_rng(0))
    rest = np.setdiff1d(np.arange(600), order)
    predicted = width(CrowdMap(prior.mean, covariances[50]).accuracy(x[rest], 50))
    rng = np.random.default_rng(4)
    widths, holds = [], []
    for _ in range(100):
        b = prior.mean + root @ rng.standard_normal(3)
        right = (rng.random(600) < 1 / (1 + np.exp(-x @ b))).astype(float)
        estimate = prior.update(x[order], right[order]).map.accuracy(x[rest], 50)
        widths.append(width(estimate))
        holds.append(estimate.low <= (right[rest].sum() + 50) / 600 <= estimate.high)
    assert predicted == pytest.approx(np.mean(widths), rel=0.25)
    assert predicted < 0.6 * width(prior.accuracy(x))
    assert np.mean(holds) > 0.8


@pytest.mark.parametrize("model", [Auto(), DawidSkene()], ids=str)
def test_checked_tasks_narrow_the_interval_of_votes(model):
    votes, truth = one_coin(tasks=400, skill=SKILL, seed=5)
    suggestion = suggest_gold(model.fit(votes), 50)
    gold = np.full(400, -1, np.int32)
    gold[suggestion.codes] = truth[suggestion.codes]
    checked = model.fit(replace(votes, gold=gold))
    assert width(suggestion.predicted) < 0.7 * width(suggestion.now)
    assert width(checked.expected_accuracy) < 0.8 * width(suggestion.now)
    assert suggest_gold(checked, 50).codes.tolist() != suggestion.codes.tolist()
    assert not set(suggest_gold(checked, 350).codes.tolist()) & set(suggestion.codes.tolist())


def test_how_many_is_the_smallest_number_that_halves_the_interval():
    votes, _ = one_coin(tasks=400, skill=SKILL, seed=6)
    suggestion = suggest_gold(aggregate(votes), None)
    n = suggestion.how_many
    assert len(suggestion) == n
    assert list(suggestion.by_count) == [10, 20, 50, 100, 200]
    assert suggestion.predicted == suggestion.by_count[n]
    assert width(suggestion.by_count[n]) <= width(suggestion.now) / 2
    smaller = [width(then) for count, then in suggestion.by_count.items() if count < n]
    assert all(each > width(suggestion.now) / 2 for each in smaller)


def test_of_few_tasks_all_are_suggested_and_of_none_none():
    votes = Votes.of(["a", "a", "b"], ["x", "y", "x"], ["cat", "cat", "dog"])
    assert set(suggest_gold(aggregate(votes)).tasks.tolist()) == {"a", "b"}
    known = suggest_gold(aggregate(votes.with_gold({"a": "cat", "b": "dog"})))
    assert len(known) == 0
    assert known.how_many == 0
    assert known.predicted.mean == 1


def test_the_table_has_an_empty_column_for_the_truth_and_no_label_to_agree_with():
    votes, _ = one_coin(tasks=50, skill=SKILL, seed=7)
    table = suggest_gold(aggregate(votes), 5).to_table()
    assert table.column_names == ["task", "truth"]
    assert table["truth"].to_pylist() == [""] * 5


def test_a_number_of_tasks_below_one_is_an_error():
    votes, _ = one_coin(tasks=50, skill=SKILL, seed=7)
    with pytest.raises(ValueError, match="n is 0, expected a number of tasks"):
        suggest_gold(aggregate(votes), 0)


def test_text_says_what_is_gained():
    votes, _ = one_coin(tasks=300, skill=SKILL, seed=8)
    assert str(suggest_gold(aggregate(votes), 30)).startswith("check 30 tasks: from ")
