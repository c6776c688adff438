"""The honest posterior: labels stay, rows sum to one, gold is certain and moves the map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from crowdpilot.aggregation import DawidSkene, MajorityVoting, NaiveSoft
from crowdpilot.arrays import TIE
from crowdpilot.calibration.experience import CrowdMap, honest, honest_posterior, load_experience
from crowdpilot.calibration.experience.honest import MARGIN, spread_confidence
from crowdpilot.votes import Votes
from tests.crowds import next_class_votes, one_coin_votes


def honest_of(votes: Votes, model=None, experience=None):
    result = (model or DawidSkene()).fit(votes)
    return result, honest_posterior(votes.merged, result.probs, result.codes, experience)


@pytest.mark.parametrize("K", range(2, 11))
@pytest.mark.parametrize("model", [MajorityVoting(), DawidSkene()], ids=str)
def test_labels_stay_and_rows_sum_to_one(K, model):
    votes, _ = next_class_votes(tasks=80, workers=9, classes=K, votes=240, seed=K)
    result, posterior = honest_of(votes, model)
    assert posterior.probs.min() >= 0
    np.testing.assert_allclose(posterior.probs.sum(axis=1), 1)
    np.testing.assert_array_equal(replace(result, posterior=posterior.probs).codes, result.codes)
    assert posterior.probs.max() <= 0.9999


def test_the_label_has_the_confidence_of_the_map():
    votes, _ = one_coin_votes(200, [0.9, 0.8, 0.7, 0.6], classes=2, votes_per_task=3, seed=0)
    result, posterior = honest_of(votes)
    assert posterior.map is load_experience()
    expected = posterior.map.confidence(posterior.evidence.features)
    np.testing.assert_allclose(posterior.confidence, expected)
    shown = posterior.probs[np.arange(200), result.codes]
    np.testing.assert_allclose(shown, np.maximum(expected, 0.5 + MARGIN / 2))


def test_other_classes_are_in_proportion_to_the_pool():
    votes, _ = one_coin_votes(60, [0.9, 0.8, 0.7, 0.6], classes=4, votes_per_task=3, seed=0)
    result, posterior = honest_of(votes)
    other = np.arange(4) != result.codes[:, None]
    pool, probs = posterior.evidence.pool[other].reshape(60, 3), posterior.probs[other].reshape(60, 3)
    np.testing.assert_allclose(
        probs / probs.sum(axis=1, keepdims=True), pool / pool.sum(axis=1, keepdims=True)
    )


def test_ties_of_the_model_stay_ties():
    votes = Votes.of([1, 1, 2, 2, 3, 3, 3], list("abcdabc"), [0, 1, 2, 0, 1, 1, 2], classes=[0, 1, 2])
    result, posterior = honest_of(votes, NaiveSoft())
    assert posterior.probs[0, 0] == posterior.probs[0, 1] > posterior.probs[0, 2]
    assert posterior.probs[1, 0] == posterior.probs[1, 2] > posterior.probs[1, 1]
    assert posterior.probs[2, 1] > posterior.probs[2, [0, 2]].max()
    np.testing.assert_array_equal(replace(result, posterior=posterior.probs).codes, result.codes)


def test_two_tied_votes_of_two_classes_are_a_half_each():
    votes = Votes.of([1, 1, 2, 2], list("abab"), [0, 1, 1, 0])
    assert honest_of(votes, MajorityVoting())[1].probs.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_tasks_without_votes_keep_the_posterior_of_the_model():
    votes, _ = one_coin_votes(60, [0.9, 0.8, 0.7], classes=3, votes_per_task=3, seed=0)
    wider = replace(votes, tasks=np.arange(62))
    result, posterior = honest_of(wider)
    np.testing.assert_array_equal(posterior.probs[60:], result.probs[60:])
    assert np.isnan(posterior.confidence[60:]).all()


def test_gold_tasks_are_certain_and_count_as_right():
    votes, truth = one_coin_votes(60, [0.9, 0.8, 0.7], classes=3, votes_per_task=3, seed=0)
    known = replace(votes, gold=np.where(np.arange(60) < 30, (truth + 1) % 3, -1))
    _, posterior = honest_of(known)
    np.testing.assert_array_equal(posterior.probs[:30], np.eye(3)[(truth[:30] + 1) % 3])
    assert posterior.gold.tasks == 30
    everything = replace(votes, gold=truth)
    assert honest_of(everything)[1].accuracy[:3] == (1, 1, 1)


def test_gold_is_the_update_of_the_map():
    votes, truth = one_coin_votes(200, [0.9, 0.8, 0.7, 0.6], classes=2, votes_per_task=3, seed=0)
    known = replace(votes, gold=np.where(np.arange(200) < 50, truth, -1))
    _, posterior = honest_of(known)
    right = (posterior.evidence.label == truth)[:50]
    fit = load_experience().update(posterior.evidence.features[:50], right.astype(float))
    np.testing.assert_allclose(posterior.map.mean, fit.map.mean)
    assert posterior.gold.right == right.sum()
    assert posterior.gold.log_likelihood == pytest.approx(fit.log_likelihood)


def test_gold_that_votes_get_wrong_lowers_confidence_and_is_said():
    votes, truth = one_coin_votes(200, [0.9, 0.8, 0.8, 0.7], classes=4, votes_per_task=3, seed=0)
    first, wrong = np.arange(200) < 40, (truth + np.random.default_rng(0).integers(1, 4, 200)) % 4
    good = honest_of(replace(votes, gold=np.where(first, truth, -1)), MajorityVoting())[1]
    bad = honest_of(replace(votes, gold=np.where(first, wrong, -1)), MajorityVoting())[1]
    assert bad.gold.contradicts
    assert not good.gold.contradicts
    assert bad.accuracy.high < good.accuracy.mean


def test_a_crowd_that_always_says_the_opposite_is_understood_by_its_gold():
    votes, truth = one_coin_votes(200, [0.9, 0.8, 0.8, 0.7], classes=2, votes_per_task=3, seed=0)
    result, posterior = honest_of(replace(votes, gold=np.where(np.arange(200) < 40, 1 - truth, -1)))
    assert not posterior.gold.contradicts
    assert (result.codes != truth)[40:].mean() > 0.8


def test_gold_narrows_the_interval():
    votes, truth = one_coin_votes(600, [0.9, 0.8, 0.8, 0.7], classes=2, votes_per_task=3, seed=0)
    widths = []
    for n in (0, 20, 100):
        accuracy = honest_of(replace(votes, gold=np.where(np.arange(600) < n, truth, -1)))[1].accuracy
        widths.append(accuracy.high - accuracy.low)
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize("gold", [0, 30])
def test_intervals_hold_on_crowds_that_follow_the_map(gold):
    """Which labels are right is drawn by the map with coefficients of the experience."""
    votes, _ = one_coin_votes(300, [0.9, 0.8, 0.8, 0.7, 0.6], classes=2, votes_per_task=3, seed=0)
    experience = CrowdMap(np.array([0.6, 0.2, 0.8]), np.diag([0.2, 0.05, 0.3]))
    result = MajorityVoting().fit(votes)
    features = honest_posterior(votes, result.probs, result.codes).evidence.features
    rng, held, n = np.random.default_rng(1), [], 120
    for coefficients in rng.multivariate_normal(experience.mean, experience.covariance, n):
        right = rng.random(300) < expit(features @ coefficients)
        fitted = experience
        if gold:
            fitted = experience.update(features[:gold], right[:gold].astype(float)).map
        said = fitted.accuracy(features[gold:], gold)
        held.append(said.low <= (right[gold:].sum() + gold) / 300 <= said.high)
    assert 0.82 < np.mean(held) < 0.97


def test_blocks_give_what_one_block_gives(monkeypatch):
    votes, _ = next_class_votes(tasks=80, workers=9, classes=5, votes=240)
    whole = honest_of(votes, MajorityVoting())[1].probs
    monkeypatch.setattr(honest, "MAX_BLOCK", 7)
    np.testing.assert_array_equal(honest_of(votes, MajorityVoting())[1].probs, whole)


rows_of = st.integers(2, 6).flatmap(
    lambda K: st.lists(st.lists(st.integers(0, 3), min_size=K, max_size=K), min_size=1, max_size=8)
)


@settings(max_examples=200, deadline=None)
@given(posterior=rows_of, pool=st.randoms(), confidence=st.floats(0.001, 0.9999))
def test_a_confidence_is_spread_without_changing_what_is_most_probable(posterior, pool, confidence):
    scores = np.array(posterior) + 0.01
    before = scores / scores.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(pool.getrandbits(32))
    shares = rng.dirichlet(np.full(before.shape[1], 0.3), len(before)) + 1e-6
    shares /= shares.sum(axis=1, keepdims=True)
    after = spread_confidence(
        before, before.argmax(axis=1).astype(np.int32), np.full(len(before), confidence), shares
    )
    np.testing.assert_allclose(after.sum(axis=1), 1)
    assert after.min() >= 0
    top = before >= before.max(axis=1, keepdims=True) - TIE
    np.testing.assert_array_equal(after >= after.max(axis=1, keepdims=True) - TIE, top)


def test_a_label_that_is_not_the_most_probable_becomes_it():
    """As with labels that come from elsewhere."""
    after = spread_confidence(
        np.array([[0.8, 0.1, 0.1]]), np.array([2], np.int32), np.array([0.2]), np.array([[0.6, 0.2, 0.2]])
    )
    assert after.argmax() == 2
    assert after[0, 0] == pytest.approx(after[0, 2], abs=1e-5)


def test_a_posterior_is_not_changed_in_place():
    votes, _ = next_class_votes(tasks=30, workers=5, classes=3, votes=90)
    result = MajorityVoting().fit(votes)
    before = result.probs.copy()
    honest_posterior(votes.merged, result.probs, result.codes)
    np.testing.assert_array_equal(result.probs, before)
