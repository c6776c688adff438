"""Cohen's kappa of pairs equals that of scikit-learn, and its intervals cover."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from crowdpilot.diagnosis.pairwise_agreement import cohen_kappa
from crowdpilot.votes import Votes


def rate(seed: int) -> tuple[np.ndarray, Votes]:
    """Random labels, (workers, tasks) with -1 where there is none, and the same as votes."""
    rng = np.random.default_rng(seed)
    tasks, workers, K = rng.integers(3, 60), rng.integers(2, 5), rng.integers(2, 7)
    prior = rng.dirichlet(np.full(K, rng.choice([0.3, 1, 5])))
    truth, guess = rng.choice(K, tasks, p=prior), rng.choice(K, (workers, tasks), p=prior)
    label = np.where(rng.random((workers, tasks)) < rng.uniform(0.1, 1), truth, guess)
    label[rng.random((workers, tasks)) < rng.choice([0, 0.3, 0.6])] = -1
    worker, task = np.nonzero(label >= 0)
    order = rng.permutation(len(task))
    code = [f"w{n}" for n in worker[order]]
    return label, Votes.of(task[order], code, label[worker, task][order], classes=range(K))


def test_kappa_is_that_of_scikit_learn() -> None:
    """scikit-learn 1.9 on 200 random inputs, all pairs of each."""
    compared = 0
    for seed in range(200):
        label, votes = rate(seed)
        found = cohen_kappa(votes, min_shared=1, samples=1)
        rows = dict(zip(map(frozenset, zip(*found[:2], strict=True)), np.transpose(found[2:5]), strict=True))
        voted = label >= 0
        shared = [(i, j) for i, j in combinations(range(len(label)), 2) if (voted[i] & voted[j]).any()]
        assert len(rows) == len(found.shared) == len(shared)
        for i, j in shared:
            x, y = label[[i, j]][:, voted[i] & voted[j]]
            expected = np.nan if len(set(x) | set(y)) < 2 else cohen_kappa_score(x, y)
            np.testing.assert_allclose(
                rows[frozenset((f"w{i}", f"w{j}"))], [len(x), (x == y).mean(), expected], rtol=0, atol=1e-9
            )
            compared += 1
    assert compared > 500


def test_those_who_share_most_come_first_and_few_shared_tasks_do_not_count() -> None:
    tasks = {"ann": range(9), "bob": range(3, 12), "cem": range(8, 12), "dan": range(11, 13)}
    rows = [(task, name, task % 2) for name, done in tasks.items() for task in done]
    votes = Votes.of(*zip(*rows, strict=True))
    found = cohen_kappa(votes, min_shared=1, samples=10)
    pairs = [("ann", "bob", 6), ("bob", "cem", 4), ("ann", "cem", 1), ("bob", "dan", 1), ("cem", "dan", 1)]
    assert list(zip(*(column.tolist() for column in found[:3]), strict=True)) == pairs
    assert len(cohen_kappa(votes, min_shared=2, samples=10).shared) == 2
    assert len(cohen_kappa(votes, min_shared=1, limit=3, samples=10).shared) == 3


def test_many_workers_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch, simulated) -> None:
    votes, _ = simulated
    whole = cohen_kappa(votes, limit=20, samples=50)
    monkeypatch.setattr("crowdpilot.diagnosis.pairwise_agreement.MAX_VOTE_PAIRS_PER_BLOCK", 700)
    parts = cohen_kappa(votes, limit=20, samples=50)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_order_of_votes_does_not_matter(simulated) -> None:
    votes, _ = simulated
    shuffled = votes.take(np.random.default_rng(0).permutation(len(votes)))
    for one, other in zip(cohen_kappa(votes), cohen_kappa(shuffled), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_interval_is_that_of_shared_tasks_drawn_again() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 60)
    y = np.where(rng.random(60) < 0.6, x, rng.integers(0, 3, 60))
    votes = Votes.of(np.tile(np.arange(60), 2), np.repeat([0, 1], 60), np.r_[x, y])
    drawn = [cohen_kappa_score(x[d], y[d]) for d in rng.integers(60, size=(300, 60))]
    found = cohen_kappa(votes, level=0.8, samples=4000)
    expected = np.quantile(drawn, [0.1, 0.9])
    np.testing.assert_allclose([found.low[0], found.high[0]], expected, atol=0.25 * np.std(drawn))


def test_intervals_cover_the_true_kappa() -> None:
    """Two workers who are right in 80 of 100 cases of two equal classes: kappa is .36."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 80 * 150)
    label = np.where(rng.random((2, len(truth))) < 0.8, truth, 1 - truth)
    workers = np.repeat([0, 150], len(truth)) + np.tile(np.repeat(np.arange(150), 80), 2)  # 150 such pairs
    votes = Votes.of(np.tile(np.arange(len(truth)), 2), workers, label.ravel())
    found = cohen_kappa(votes, level=0.9, samples=400)
    assert len(found.kappa) == 150
    assert 0.84 < np.mean((found.low <= 0.36) & (found.high >= 0.36)) < 0.96


def test_two_who_always_say_the_same_one_thing_have_no_kappa() -> None:
    found = cohen_kappa(Votes.of([1, 1, 2, 2], list("xyxy"), list("aaaa")), min_shared=2, samples=20)
    assert found.agreement.tolist() == [1]
    assert np.isnan([found.kappa, found.low, found.high]).all()


def test_a_weight_and_a_repeat_are_more_meetings() -> None:
    labels = {"task": [1, 1, 1, 2, 2, 3, 3], "worker": list("xyyxyxy"), "label": list("aabbbab")}
    twice = Votes.of(**labels, repeats="all")
    weighted = Votes.of(**labels, repeats="all", weight=[1] * 7)
    x, y = [*"aab", "a"], [*"abb", "b"]
    for votes in (twice, weighted):
        found = cohen_kappa(votes, min_shared=1, samples=20)
        assert found.shared.tolist() == [4]
        assert found.kappa[0] == pytest.approx(cohen_kappa_score(x, y))
    heavy = cohen_kappa(Votes.of([1, 1], ["x", "y"], ["a", "b"], weight=[2, 3]), min_shared=6, samples=5)
    assert heavy.shared.tolist() == [6]


@pytest.mark.parametrize("columns", [([], [], []), ([1], ["x"], ["a"]), ([1, 2], ["x", "y"], ["a", "a"])])
def test_nobody_who_met_is_no_pair(columns: tuple[list, list, list]) -> None:
    assert [len(column) for column in cohen_kappa(Votes.of(*columns), min_shared=1)] == [0] * 7


def test_wrong_settings_are_refused(simulated) -> None:
    votes, _ = simulated
    with pytest.raises(ValueError, match="min_shared is 0 and limit is 5, expected 1 or more"):
        cohen_kappa(votes, min_shared=0, limit=5)
    with pytest.raises(ValueError, match="expected a share and 1 or more"):
        cohen_kappa(votes, level=2)
    with pytest.raises(ValueError, match=r"the weight 0\.5, and agreement takes whole numbers only"):
        cohen_kappa(Votes.of([1, 1], ["x", "y"], ["a", "b"], weight=[1, 0.5]))
