"""Skills have intervals that hold the truth as often as they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from crowdpilot.aggregation import MODELS, Aggregate, Auto, DawidSkene, MajorityVoting
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.aggregation.workers.skill import WORKER_VARIANCE
from crowdpilot.diagnosis import skill_interval
from crowdpilot.simulation import HammerSpammer, IndependentConfusion, Simulation, one_coin
from crowdpilot.votes import Votes
from tests.crowds import one_coin_crowd


def gold_votes(hits: int, misses: int) -> Votes:
    """Votes of one worker on gold tasks alone."""
    n = hits + misses
    label = np.repeat([0, 1], [hits, misses])
    return Votes(np.arange(n), np.zeros(n), label, np.arange(n), ["x"], ["a", "b"], gold=np.zeros(n))


@settings(max_examples=50, deadline=None)
@given(hits=st.integers(0, 300), misses=st.integers(0, 300), level=st.floats(0.5, 0.99))
def test_where_classes_are_known_it_is_that_of_jeffreys(hits: int, misses: int, level: float) -> None:
    if hits + misses == 0:
        return
    found = skill_interval(DawidSkene().fit(gold_votes(hits, misses)), level)
    law = beta(hits + 0.5, misses + 0.5)
    np.testing.assert_allclose(np.ravel(found[1:]), law.ppf([(1 - level) / 2, (1 + level) / 2]), atol=1e-9)
    assert found.value[0] == pytest.approx(law.mean())


def test_the_skill_is_the_mean_probability_of_the_labels(simulated) -> None:
    votes, _ = simulated
    for model in (Auto(), DawidSkene(), MajorityVoting()):
        result = model.fit(votes)
        honest = result if "model_probs" in result.params else make_honest(result)
        expected = votes.worker_mean(honest.probs[votes.task, votes.label])
        np.testing.assert_allclose(skill_interval(result).value, expected)
        np.testing.assert_allclose(honest.skill, expected)


def test_the_variance_is_that_of_draws_of_coefficients_classes_workers_and_votes(simulated) -> None:
    """The uncertainty of the crowd's map, of the classes given the map, of workers, and of votes."""
    votes, _ = simulated
    result = Auto().fit(votes)
    rng, crowd, votes = np.random.default_rng(0), result.crowd, result.votes
    n, label = votes.worker_sum(), result.codes
    others = result.probs[votes.task, votes.label] / (1 - result.confidence[votes.task])
    draws = []
    for coefficients in rng.multivariate_normal(crowd.map.mean, crowd.map.covariance, 2000):
        confidence = 1 / (1 + np.exp(-crowd.features @ coefficients))[votes.task]
        p = np.where(votes.label == label[votes.task], confidence, (1 - confidence) * others)
        share = votes.worker_mean(rng.random(len(p)) < p)
        skill = rng.beta(share * n + 0.5, (1 - share) * n + 0.5)
        deviation = np.sqrt(WORKER_VARIANCE * skill * (1 - skill))
        draws.append(skill + deviation * rng.standard_normal(len(skill)))
    _, low, high = skill_interval(result, 0.9)
    expected = np.quantile(draws, [0.05, 0.95], axis=0)
    np.testing.assert_allclose(high - low, expected[1] - expected[0], rtol=0.15)
    np.testing.assert_allclose([low, high], expected, atol=0.05)


def test_good_workers_are_told_from_spammers() -> None:
    made = HammerSpammer(tasks=200, workers=20, ratio=0.2, votes_per_task=10).run()
    found = skill_interval(DawidSkene().fit(made.votes))
    assert found.low[:16].min() > found.high[16:].max() + 0.3
    assert found.high[:16].min() > 0.98


def copies(workers: int, classes: int = 2, tasks: int = 200) -> Votes:
    """Workers who all say the same."""
    label = np.random.default_rng(0).integers(classes, size=tasks)
    names = np.tile(np.arange(tasks), workers), np.repeat(np.arange(workers), tasks)
    return Votes.of(*names, np.tile(label, workers))


def test_workers_who_all_agree_are_not_taken_to_be_always_right() -> None:
    """They may all be wrong on the same tasks: nobody can tell, and no number of votes makes it sure."""
    widths = []
    for workers in (2, 5, 20):
        skill, low, high = skill_interval(Auto().fit(copies(workers)))
        assert (low < 0.85).all()
        assert (skill < 0.98).all()
        widths.append((high - low).mean())
    assert min(widths) > 0.1


def test_gold_labels_narrow_it_and_decide() -> None:
    """Ten workers copy each other, and are right on all gold tasks, or on half of them."""
    votes = copies(10)
    truth = votes.label[:200]
    wide = skill_interval(Auto().fit(votes))
    right = {t: truth[t] for t in range(40)}
    half = {t: truth[t] if t % 2 else 1 - truth[t] for t in range(40)}
    for gold, expected in ((right, 1.0), (half, 0.5)):
        _, low, high = skill_interval(Auto().fit(votes.with_gold(gold)))
        assert (high - low < wide.high - wide.low).all()
        assert (low - 0.05 < expected).all()
        assert (expected < high + 0.05).all()


def test_a_worker_who_fails_gold_is_not_saved_by_the_others() -> None:
    """Twenty gold tasks outweigh two hundred that agree with a crowd."""
    made = one_coin(tasks=220, skill=[0.9] * 8, votes_per_task=8, seed=1)
    votes, truth = made.votes, made.truth
    label = np.where((votes.worker == 0) & (votes.task < 20), 1 - truth[votes.task], votes.label)
    known = replace(votes, label=label).with_gold(dict(enumerate(truth[:20].tolist())))
    result = Auto().fit(known)
    skill, _, high = skill_interval(result)
    assert skill[0] < 0.65 < 0.75 < skill[1:].min()
    assert high[0] < skill[1:].min()
    np.testing.assert_allclose(result.skill, skill)


def test_fewer_votes_make_it_wider() -> None:
    made = one_coin(tasks=400, skill=[0.8] * 10, votes_per_task=10, seed=0)
    votes = made.votes
    kept = (votes.worker > 2) | (votes.task < np.array([5, 20, 100, *[400] * 7])[votes.worker])
    _, low, high = skill_interval(Auto().fit(votes.take(kept)))
    assert (np.diff((high - low)[:4]) < -0.01).all()


def test_a_higher_level_is_wider(simulated) -> None:
    result = DawidSkene().fit(simulated[0])
    narrow, wide = (skill_interval(result, level) for level in (0.5, 0.99))
    assert (wide.low < narrow.low).all()
    assert (narrow.high < wide.high).all()
    np.testing.assert_array_equal(wide.value, narrow.value)


SIZE = {"tasks": 400, "workers": 50}


def coins(low: float, **options: Any) -> Callable[[int], Simulation]:
    return lambda seed: one_coin_crowd(seed, low, 0.98, **SIZE, **options)


CROWDS = {
    "two classes, three votes": coins(0.55, classes=2, votes_per_task=3),
    "two classes, ten votes": coins(0.5, classes=2, votes_per_task=10),
    "four classes": coins(0.4, classes=4, votes_per_task=5),
    "ten classes": coins(0.3, classes=10, votes_per_task=5),
    "one to ten votes": coins(0.4, classes=4, votes_per_task=10, imbalance_votes=True),
    "a class for most tasks": coins(0.5, classes=3, votes_per_task=5, prior=(0.8, 0.1, 0.1)),
    "spammers": lambda s: HammerSpammer(ratio=0.9, votes_per_task=20, classes=4, seed=s, **SIZE).run(),
    "matrices of their own": lambda s: IndependentConfusion(
        classes=3, votes_per_task=8, seed=s, **SIZE
    ).run(),
}


@pytest.mark.parametrize("kind", CROWDS)
def test_most_intervals_hold_the_truth_of_crowds_that_err_independently(kind: str) -> None:
    """Not nine of ten: they are better than nearly all real crowds, for which the intervals are made."""
    inside = []
    for seed in range(8):
        made = CROWDS[kind](seed)
        prior = made.crowd.prior or np.full(made.crowd.classes, 1 / made.crowd.classes)
        true = np.einsum("jkk,k->j", made.confusion, prior)
        _, low, high = skill_interval(DawidSkene().fit(made.votes), 0.9)
        inside.append(((low <= true) & (true <= high))[true < 1])
    assert np.concatenate(inside).mean() > 0.75


@pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("gold_majority", "crowdlab")])
def test_every_aggregator_gives_intervals(name: str, simulated) -> None:
    votes, truth = simulated
    skill, low, high = skill_interval(MODELS[name]().fit(votes))
    assert ((low > 0) & (low < skill) & (skill < high) & (high < 1)).all()
    true = votes.worker_mean(votes.label == truth[votes.task])
    assert (low < true).all()
    assert (true < high + 0.15).all()  # workers who err independently are better than experience
    assert skill.argmin() == 7


def test_workers_without_votes_have_none(simulated) -> None:
    votes, _ = simulated
    found = skill_interval(DawidSkene().fit(replace(votes, workers=np.arange(9))))
    assert np.isnan(np.array(found)[:, 8]).all()
    assert np.isfinite(np.array(found)[:, :8]).all()


def test_weights_count_as_votes() -> None:
    weighted = replace(gold_votes(1, 1), weight=np.array([9.0, 3.0]))
    found = (skill_interval(DawidSkene().fit(votes)) for votes in (weighted, gold_votes(9, 3)))
    np.testing.assert_allclose(*map(np.ravel, found))


def test_one_class_and_one_vote_are_no_trouble() -> None:
    for votes in (Votes.of([1], ["x"], ["a"]), Votes.of([1], ["x"], ["a"], classes=["a", "b"])):
        skill, low, high = skill_interval(MajorityVoting().fit(votes))
        assert 0 < low[0] < skill[0] < high[0] <= 1


def test_the_posterior_of_a_campaign_will_do(simulated) -> None:
    """A result without a model, as the service has it."""
    votes, _ = simulated
    posterior = DawidSkene().fit(votes).probs
    found = skill_interval(Aggregate(votes, posterior, np.full(8, np.nan)))
    np.testing.assert_allclose(found, skill_interval(DawidSkene().fit(votes)))


@pytest.mark.parametrize("level", [0.0, 1.0, 90, -1, float("nan")])
def test_a_senseless_level_is_refused(level: float, simulated) -> None:
    with pytest.raises(ValueError, match=r"level is .*, expected a number between 0 and 1"):
        skill_interval(MajorityVoting().fit(simulated[0]), level)
