"""Skills have intervals that hold the truth as often as they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import beta

from crowdpilot.aggregation import MODELS, DawidSkene, MajorityVoting
from crowdpilot.diagnosis import LeaveOneOut, leave_one_out_posteriors, skill_interval
from crowdpilot.simulation import HammerSpammer, IndependentConfusion, Simulation
from crowdpilot.votes import Votes
from tests.crowds import one_coin_crowd


def loo_of(right: list[list[float]], K: int = 2) -> LeaveOneOut:
    """Workers whose votes, all for class 0, are right with these probabilities."""
    worker = np.repeat(np.arange(len(right)), [len(r) for r in right])
    sure = np.concatenate(right)
    names = np.arange(len(sure)), np.arange(len(right)), np.arange(K)
    votes = Votes(np.arange(len(sure)), worker, np.zeros(len(sure)), *names)
    others = np.column_stack([sure, np.repeat((1 - sure)[:, None] / max(K - 1, 1), K - 1, axis=1)])
    even = np.full((K, K), 1 / K)
    return LeaveOneOut(votes, even[0], even, np.broadcast_to(even, (len(right), K, K)), others)


@settings(max_examples=50, deadline=None)
@given(hits=st.integers(0, 300), misses=st.integers(0, 300), K=st.integers(2, 20), level=st.floats(0.5, 0.99))
def test_where_classes_are_certain_it_is_that_of_jeffreys(
    hits: int, misses: int, K: int, level: float
) -> None:
    if hits + misses == 0:
        return
    found = skill_interval(loo_of([[1.0] * hits + [0.0] * misses], K), level)
    law = beta(hits + 0.5, misses + 0.5)
    np.testing.assert_allclose(np.ravel(found[1:]), law.ppf([(1 - level) / 2, (1 + level) / 2]), atol=1e-9)
    assert found.value[0] == pytest.approx(law.mean())


def test_the_skill_is_what_makes_the_votes_most_likely() -> None:
    """With the prior of half a vote right and half a vote wrong."""
    rng = np.random.default_rng(0)
    right, K = rng.beta(2, 1, 60), 4
    found = skill_interval(loo_of([right.tolist()], K))

    def cost(s: float) -> float:
        log_likelihood = np.log(right * s + (1 - right) * (1 - s) / (K - 1)).sum()
        return -float(log_likelihood + 0.5 * np.log(s) + 0.5 * np.log(1 - s))

    best = minimize_scalar(cost, bounds=(0.01, 0.99), method="bounded", options={"xatol": 1e-9}).x
    assert found.value[0] == pytest.approx(best, abs=1e-4)
    step = 1e-4  # the curvature of the Beta law is that of the likelihood
    bend = (cost(best + step) - 2 * cost(best) + cost(best - step)) / step**2
    total = bend * best * (1 - best)
    law = beta(total * best, total * (1 - best))
    np.testing.assert_allclose(np.ravel(found[1:]), law.ppf([0.05, 0.95]), atol=1e-3)


def test_a_worker_who_is_always_right_is_known_to_be_good() -> None:
    made = HammerSpammer(tasks=200, workers=20, ratio=0.2, votes_per_task=10).run()
    found = skill_interval(leave_one_out_posteriors(DawidSkene().fit(made.votes)))
    assert found.low[:16].min() > 0.95
    assert found.high[16:].max() < 0.4


def test_doubt_about_the_class_makes_it_wider() -> None:
    sure, unsure, clueless = [0.99] * 80 + [0.01] * 20, [0.7] * 62 + [0.3] * 38, [0.5] * 100
    _, low, high = skill_interval(loo_of([sure, unsure, clueless]))
    assert (np.diff(high - low) > 0.02).all()
    assert high[2] - low[2] > 0.8


def test_fewer_votes_make_it_wider() -> None:
    _, low, high = skill_interval(loo_of([([0.95] * 4 + [0.05]) * n for n in (100, 10, 1)]))
    assert (np.diff(high - low) > 0.05).all()


def test_a_higher_level_is_wider(simulated) -> None:
    loo = leave_one_out_posteriors(DawidSkene().fit(simulated[0]))
    narrow, wide = (skill_interval(loo, level) for level in (0.5, 0.99))
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()
    np.testing.assert_array_equal(wide.value, narrow.value)


SIZE = {"tasks": 400, "workers": 50}


def one_coin(low: float, **options: Any) -> Callable[[int], Simulation]:
    return lambda seed: one_coin_crowd(seed, low, 0.98, **SIZE, **options)


CROWDS = {
    "two classes, three votes": one_coin(0.55, classes=2, votes_per_task=3),
    "two classes, ten votes": one_coin(0.5, classes=2, votes_per_task=10),
    "four classes": one_coin(0.4, classes=4, votes_per_task=5),
    "ten classes": one_coin(0.3, classes=10, votes_per_task=5),
    "one to ten votes": one_coin(0.4, classes=4, votes_per_task=10, imbalance_votes=True),
    "a class for most tasks": one_coin(0.5, classes=3, votes_per_task=5, prior=(0.8, 0.1, 0.1)),
    "spammers": lambda s: HammerSpammer(ratio=0.9, votes_per_task=20, classes=4, seed=s, **SIZE).run(),
    "matrices of their own": lambda s: IndependentConfusion(
        classes=3, votes_per_task=8, seed=s, **SIZE
    ).run(),
}


@pytest.mark.parametrize("kind", CROWDS)
def test_nine_of_ten_intervals_hold_the_truth(kind: str) -> None:
    inside = []
    for seed in range(8):
        made = CROWDS[kind](seed)
        prior = made.crowd.prior or np.full(made.crowd.classes, 1 / made.crowd.classes)
        true = np.einsum("jkk,k->j", made.confusion, prior)
        _, low, high = skill_interval(leave_one_out_posteriors(DawidSkene().fit(made.votes)), 0.9)
        inside.append(((low <= true) & (true <= high))[true < 1])
    assert 0.85 < np.concatenate(inside).mean() < 0.95


@pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("gold_majority", "crowdlab")])
def test_every_aggregator_gives_intervals(name: str, simulated) -> None:
    votes, truth = simulated
    skill, low, high = skill_interval(leave_one_out_posteriors(MODELS[name]().fit(votes)))
    assert ((low > 0) & (low < skill) & (skill < high) & (high < 1)).all()
    true = votes.worker_mean(votes.label == truth[votes.task])
    assert ((low < true) & (true < high)).sum() >= 6
    assert skill.argmin() == 7


def test_workers_without_votes_have_none(simulated) -> None:
    votes, _ = simulated
    found = skill_interval(leave_one_out_posteriors(DawidSkene().fit(replace(votes, workers=np.arange(9)))))
    assert np.isnan(np.array(found)[:, 8]).all()
    assert np.isfinite(np.array(found)[:, :8]).all()


def test_weights_count_as_votes() -> None:
    loo = loo_of([[1.0, 0.0]])
    weighted = replace(loo, votes=replace(loo.votes, weight=np.array([9.0, 3.0])))
    np.testing.assert_allclose(
        np.ravel(skill_interval(weighted)), np.ravel(skill_interval(loo_of([[1.0] * 9 + [0.0] * 3])))
    )


def test_one_class_and_one_vote_are_no_trouble() -> None:
    for votes in (Votes.of([1], ["x"], ["a"]), Votes.of([1], ["x"], ["a"], classes=["a", "b"])):
        skill, low, high = skill_interval(leave_one_out_posteriors(MajorityVoting().fit(votes)))
        assert 0 < low[0] < skill[0] < high[0] <= 1


@pytest.mark.parametrize("level", [0.0, 1.0, 90, -1, float("nan")])
def test_a_senseless_level_is_refused(level: float, simulated) -> None:
    with pytest.raises(ValueError, match=r"level is .*, expected a number between 0 and 1"):
        skill_interval(leave_one_out_posteriors(MajorityVoting().fit(simulated[0])), level)
