from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.arrays import softmax, to_probs
from crowdpilot.hybrid.campaign.estimation.classifier import floored
from crowdpilot.hybrid.campaign.estimation.misleading_share import USUAL_SHARE
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.plan import Plan

K = 3


def question(items=6, probs=None, gold=None, workers=4, **plan):
    settings = Plan(**plan)
    new = Question(
        settings, np.stack([settings.pseudo_counts("crowd", K), settings.pseudo_counts("expert", K)])
    )
    new.add_items(np.full(items, -1, np.int32) if gold is None else np.asarray(gold, np.int32), probs)
    for _ in range(workers):
        new.add_worker(0)
    return new


def simulated_votes(seed=0, items=6, workers=4, classes=K):
    rng = np.random.default_rng(seed)
    truth = np.arange(items) % classes
    item, worker = (grid.ravel() for grid in np.meshgrid(np.arange(items), np.arange(workers), indexing="ij"))
    label = np.where(rng.random(len(item)) < 0.8, truth[item], rng.integers(classes, size=len(item)))
    return item, worker, label


def test_before_any_vote_the_posterior_is_uniform_or_that_of_the_classifier():
    np.testing.assert_allclose(question().posterior, 1 / K)
    probs = np.tile([0.2, 0.7, 0.1], (6, 1))
    found = question(probs=probs, fusion="bayes").posterior
    np.testing.assert_allclose(found, probs, atol=1e-3)


def test_votes_are_bayes_rule_for_the_consensus():
    q = question(fusion="bayes")
    q.add_votes(np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    said = to_probs(q.plan.pseudo_counts("crowd", K))
    consensus = softmax(2 * np.log(said[:, 2])[None])[0]
    np.testing.assert_allclose(q.posteriors.consensus[0], consensus)
    np.testing.assert_allclose(q.posterior[0], (1 - USUAL_SHARE) * consensus + USUAL_SHARE / K)
    np.testing.assert_allclose(q.posterior[1:], 1 / K)


def test_independent_votes_are_bayes_rule_for_the_true_class():
    q = question(fusion="bayes", honest=False)
    q.add_votes(np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    np.testing.assert_allclose(q.posterior, q.posteriors.consensus)


def test_an_expert_tells_the_true_class_where_the_crowd_is_misled():
    settings = Plan()
    prior = np.stack([settings.pseudo_counts(kind, K) for kind in ("crowd", "expert")])
    q = Question(settings, prior, experts=[False, True])
    q.add_items(np.full(2, -1, np.int32), None)
    for kind in (*[0] * 9, 1):
        q.add_worker(kind)
    q.add_votes(np.zeros(9, int), np.arange(9), np.ones(9, int))
    before = q.posterior[0].copy()
    assert before.argmax() == 1
    assert before[1] < 1 - USUAL_SHARE / 2
    q.add_votes(np.array([0]), np.array([9]), np.array([2]))
    said = to_probs(prior[1])[:, 2]
    np.testing.assert_allclose(q.posterior[0], to_probs(before * said))
    assert q.posterior[0].argmax() == 2
    assert q.posteriors.consensus[0, 1] > 0.9  # what more votes of the crowd would say
    assert q.delete_vote(0, 9)
    np.testing.assert_allclose(q.posterior[0], before)


def test_a_classifier_that_learned_from_votes_predicts_what_the_crowd_sees():
    probs = np.tile([0.9, 0.1, 0.0], (6, 1))
    q = question(probs=probs)
    given = q.posterior.copy()
    q.posteriors.learned_from_votes = True
    q.update_posterior(np.arange(6))
    np.testing.assert_allclose(given, q.posteriors.consensus)
    np.testing.assert_allclose(q.posterior, (1 - USUAL_SHARE) * given + USUAL_SHARE / K)


def test_an_expert_moves_the_posterior_more_than_one_of_the_crowd():
    q = question(workers=1)
    q.add_worker(1)
    q.add_votes(np.array([0, 1]), np.array([0, 1]), np.array([0, 0]))
    assert q.posterior[1, 0] > q.posterior[0, 0] > 1 / K


@pytest.mark.parametrize("fusion", ["bayes", "tempered", "average", "classifier_as_worker", "crowd"])
def test_votes_one_by_one_are_votes_together(fusion):
    probs = np.random.default_rng(0).dirichlet(np.ones(K), 6)
    one, together = (question(probs=probs, fusion=fusion) for _ in range(2))
    votes = simulated_votes()
    together.add_votes(*votes)
    for vote in np.array(votes).T[::-1]:
        one.add_votes(*vote[:, None])
    np.testing.assert_allclose(one.posterior, together.posterior, atol=1e-12)
    np.testing.assert_allclose(one.tally, together.tally)


def test_posteriors_are_probabilities_and_known_classes_are_certain():
    q = question(gold=[0, -1, 2, -1, -1, -1])
    q.add_votes(*simulated_votes())
    for _ in range(2):
        np.testing.assert_allclose(q.posterior.sum(axis=1), 1)
        assert q.posterior[0].tolist() == [1, 0, 0]
        assert q.posterior[2].tolist() == [0, 0, 1]
        q.refit(np.arange(6) % 5)


def test_a_refit_estimates_who_is_good():
    q = question(items=60)
    truth = np.arange(60) % K
    rng = np.random.default_rng(0)
    for worker, skill in enumerate([0.95, 0.95, 0.9, 0.2]):
        label = np.where(rng.random(60) < skill, truth, (truth + 1) % K)
        q.add_votes(np.arange(60), np.full(60, worker), label)
    q.refit(np.arange(60) % 5)
    skills = [np.diag(q.worker_confusion(w)).mean() for w in range(4)]
    assert min(skills[:3]) > 0.8
    assert skills[3] < 0.5
    assert (q.posterior.argmax(axis=1) == truth).mean() > 0.95


def test_a_new_worker_has_the_matrix_of_the_kind():
    q = question(items=60)
    q.add_votes(*simulated_votes(items=60))
    q.refit(np.arange(60) % 5)
    q.add_worker(0)
    np.testing.assert_allclose(q.worker_confusion(4), q.next_worker_confusion()[0])


def test_a_refit_without_votes_changes_nothing():
    q = question()
    before = q.posterior.copy()
    q.refit(np.zeros(6, np.intp))
    np.testing.assert_array_equal(q.posterior, before)


def test_new_items_without_probabilities_get_their_mean():
    q = question(items=2, probs=np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]))
    q.add_items(np.full(1, -1, np.int32), None)
    np.testing.assert_allclose(q.classifier_probs[2], [0.4, 0.4, 0.2], atol=1e-2)


def test_votes_on_dropped_items_still_count_for_workers():
    q = question(items=30)
    votes = simulated_votes(items=30)
    q.add_votes(*votes)
    q.refit(np.arange(30) % 5)
    counts, kept = np.exp(q.matrices.all()), np.arange(20, 30)
    before = q.posterior[kept].copy()
    q.keep(kept)
    np.testing.assert_array_equal(q.posterior, before)
    np.testing.assert_allclose(q.matrices.dropped_counts.sum(), 20 * 4)
    assert len(q.vote_log) == 10 * 4
    q.refit(np.arange(10) % 5)
    np.testing.assert_allclose(np.exp(q.matrices.all()), counts, atol=0.03)
    np.testing.assert_allclose(q.dropped_classes.sum(), 20)


def test_a_floor_keeps_every_class_possible():
    found = floored([[1.0, 0.0, 0.0]], 0.02)
    assert found.min() >= 0.009
    np.testing.assert_allclose(found.sum(), 1)
