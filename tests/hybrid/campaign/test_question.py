from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.arrays import softmax, to_probs
from crowdpilot.hybrid.campaign.question import Question, floored
from crowdpilot.hybrid.plan import Plan

K = 3


def question(items=6, machine=None, gold=None, workers=4, **plan):
    settings = Plan(**plan)
    new = Question(settings, np.stack([settings.usual("crowd", K), settings.usual("expert", K)]))
    new.add(np.full(items, -1, np.int32) if gold is None else np.asarray(gold, np.int32), machine)
    for _ in range(workers):
        new.enlist(0)
    return new


def told(seed=0, items=6, workers=4, classes=K):
    rng = np.random.default_rng(seed)
    truth = np.arange(items) % classes
    item, worker = (grid.ravel() for grid in np.meshgrid(np.arange(items), np.arange(workers), indexing="ij"))
    label = np.where(rng.random(len(item)) < 0.8, truth[item], rng.integers(classes, size=len(item)))
    return item, worker, label


def test_before_any_vote_all_classes_are_alike_and_the_machine_is_believed():
    np.testing.assert_allclose(question().probs, 1 / K)
    machine = np.tile([0.2, 0.7, 0.1], (6, 1))
    found = question(machine=machine, fusion="bayes").probs
    np.testing.assert_allclose(found, machine, atol=1e-3)


def test_votes_are_bayes_rule():
    q = question(fusion="bayes")
    q.hear(np.array([0, 0]), np.array([0, 1]), np.array([2, 2]))
    said = to_probs(q.plan.usual("crowd", K))
    np.testing.assert_allclose(q.probs[0], softmax(2 * np.log(said[:, 2])[None])[0])
    np.testing.assert_allclose(q.probs[1:], 1 / K)


def test_an_expert_says_more_than_one_of_the_crowd():
    q = question(workers=1)
    q.enlist(1)
    q.hear(np.array([0, 1]), np.array([0, 1]), np.array([0, 0]))
    assert q.probs[1, 0] > q.probs[0, 0] > 1 / K


@pytest.mark.parametrize("fusion", ["bayes", "tempered", "average", "classifier_as_worker", "crowd"])
def test_votes_one_by_one_are_votes_together(fusion):
    machine = np.random.default_rng(0).dirichlet(np.ones(K), 6)
    one, together = (question(machine=machine, fusion=fusion) for _ in range(2))
    votes = told()
    together.hear(*votes)
    for vote in np.array(votes).T[::-1]:
        one.hear(*vote[:, None])
    np.testing.assert_allclose(one.probs, together.probs, atol=1e-12)
    np.testing.assert_allclose(one.tally, together.tally)


def test_beliefs_are_probabilities_and_known_classes_are_certain():
    q = question(gold=[0, -1, 2, -1, -1, -1])
    q.hear(*told())
    for _ in range(2):
        np.testing.assert_allclose(q.probs.sum(axis=1), 1)
        assert q.probs[0].tolist() == [1, 0, 0]
        assert q.probs[2].tolist() == [0, 0, 1]
        q.refit(np.arange(6) % 5)


def test_a_refit_finds_out_who_is_good():
    q = question(items=60)
    truth = np.arange(60) % K
    rng = np.random.default_rng(0)
    for worker, skill in enumerate([0.95, 0.95, 0.9, 0.2]):
        label = np.where(rng.random(60) < skill, truth, (truth + 1) % K)
        q.hear(np.arange(60), np.full(60, worker), label)
    q.refit(np.arange(60) % 5)
    skills = [np.diag(q.voter(w)).mean() for w in range(4)]
    assert min(skills[:3]) > 0.8
    assert skills[3] < 0.5
    assert (q.probs.argmax(axis=1) == truth).mean() > 0.95


def test_someone_new_is_taken_to_be_like_the_others():
    q = question(items=60)
    q.hear(*told(items=60))
    q.refit(np.arange(60) % 5)
    q.enlist(0)
    np.testing.assert_allclose(q.voter(4), q.voters[0])


def test_a_refit_without_votes_changes_nothing():
    q = question()
    before = q.probs.copy()
    q.refit(np.zeros(6, np.intp))
    np.testing.assert_array_equal(q.probs, before)


def test_new_items_without_a_word_of_the_machine_get_its_average():
    q = question(items=2, machine=np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]))
    q.add(np.full(1, -1, np.int32), None)
    np.testing.assert_allclose(q.machine[2], [0.4, 0.4, 0.2], atol=1e-2)


def test_what_is_forgotten_lives_on_in_the_matrices_of_workers():
    q = question(items=30)
    votes = told(items=30)
    q.hear(*votes)
    q.refit(np.arange(30) % 5)
    counts, kept = np.exp(q.logs), np.arange(20, 30)
    before = q.probs[kept].copy()
    q.keep(kept)
    np.testing.assert_array_equal(q.probs, before)
    np.testing.assert_allclose(q.history.sum(), 20 * 4)
    assert len(q.book) == 10 * 4
    q.refit(np.arange(10) % 5)
    np.testing.assert_allclose(np.exp(q.logs), counts, atol=0.03)
    np.testing.assert_allclose(q.past.sum(), 20)


def test_a_floor_keeps_everything_possible():
    found = floored([[1.0, 0.0, 0.0]], 0.02)
    assert found.min() >= 0.009
    np.testing.assert_allclose(found.sum(), 1)
