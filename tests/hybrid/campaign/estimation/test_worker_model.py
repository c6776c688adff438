from __future__ import annotations

import numpy as np
import pytest

from crowdpilot.arrays import to_probs
from crowdpilot.hybrid.campaign.estimation.worker_model import fit_worker_model, with_label_shares
from crowdpilot.hybrid.plan import Plan
from crowdpilot.votes import Votes
from tests.crowds import partial_votes

PRIOR = np.stack([Plan().pseudo_counts("crowd", 2), Plan().pseudo_counts("expert", 2)])


def flat_prior(votes):
    return np.zeros((len(votes.tasks), 2))


def test_accuracies_are_estimated_without_the_truth():
    skills = [0.95, 0.85, 0.75, 0.6]
    votes, truth = partial_votes(600, skills, 2, share=1, seed=0)
    model = fit_worker_model(votes, flat_prior(votes), PRIOR, estimate_prior=True)
    np.testing.assert_allclose(model.confusion.sum(axis=2), 1)
    np.testing.assert_allclose(np.diagonal(model.confusion, axis1=1, axis2=2).mean(axis=1), skills, atol=0.06)
    assert (model.posterior.argmax(axis=1) == truth).mean() > 0.95


def test_a_worker_without_votes_has_the_matrix_of_the_kind():
    votes, _ = partial_votes(200, [0.9, 0.9], 2, share=1, seed=0)
    votes = Votes(votes.task, votes.worker, votes.label, votes.tasks, np.arange(4), votes.classes)
    model = fit_worker_model(votes, flat_prior(votes), PRIOR, kind=np.array([0, 0, 0, 1], np.int32))
    np.testing.assert_allclose(model.confusion[2], model.kind_confusion[0])
    np.testing.assert_allclose(model.confusion[3], model.kind_confusion[1])
    np.testing.assert_allclose(
        model.kind_confusion[1], to_probs(PRIOR)[1], atol=0.01
    )  # but for how labels are guessed


def test_few_votes_move_a_worker_less_than_many():
    known = np.log(np.tile([0.999, 0.001], (100, 1)))

    def skill(n):
        votes = Votes(np.arange(n), np.zeros(n), np.ones(n), np.arange(100), np.arange(1), np.arange(2))
        return fit_worker_model(votes, known, PRIOR).confusion[0, 0, 0]

    found = [skill(n) for n in (1, 5, 25, 100)]
    assert np.all(np.diff(found) < 0)
    assert found[0] > 0.6
    assert found[-1] < 0.1


def test_task_priors_count():
    votes = Votes([0], [0], [1], np.arange(2), np.arange(1), np.arange(2))
    before = np.log([[0.5, 0.5], [0.2, 0.8]])
    model = fit_worker_model(votes, before, PRIOR)
    assert model.posterior[0, 1] > 0.7
    np.testing.assert_allclose(model.posterior[1], [0.2, 0.8])


def test_known_classes_are_kept():
    votes, truth = partial_votes(
        200, [0.1, 0.1, 0.1], 2, share=1, seed=0
    )  # everybody is wrong, and gold says so
    gold = np.where(np.arange(200) < 50, truth, -1).astype(np.int32)
    votes = Votes(votes.task, votes.worker, votes.label, votes.tasks, votes.workers, votes.classes, gold=gold)
    model = fit_worker_model(votes, flat_prior(votes), PRIOR)
    np.testing.assert_array_equal(model.posterior[:50].argmax(axis=1), truth[:50])


def test_earlier_votes_count_as_if_they_were_there():
    """Votes on items of known class, or their counts: the workers are the same."""
    votes, truth = partial_votes(100, [0.9, 0.7], 2, share=1, seed=0)
    known = np.where(np.arange(100) < 60, truth, -1).astype(np.int32)
    whole = Votes(
        votes.task, votes.worker, votes.label, votes.tasks, votes.workers, votes.classes, gold=known
    )
    expected = fit_worker_model(whole, flat_prior(whole), PRIOR)
    old, new = votes.task < 60, votes.task >= 60
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, (votes.worker[old], truth[votes.task[old]], votes.label[old]), 1)
    rest = Votes(
        votes.task[new] - 60, votes.worker[new], votes.label[new], np.arange(40), votes.workers, votes.classes
    )
    past = np.bincount(truth[:60], minlength=2).astype(float)
    found = fit_worker_model(rest, flat_prior(rest), PRIOR, earlier=(past, counts))
    np.testing.assert_allclose(found.confusion, expected.confusion, atol=5e-3)
    np.testing.assert_allclose(found.kind_confusion, expected.kind_confusion, atol=5e-3)


def test_the_order_of_votes_does_not_matter():
    votes, _ = partial_votes(200, [0.9, 0.8, 0.7], 2, share=0.6, seed=0)
    shuffled = votes.take(np.random.default_rng(0).permutation(len(votes)))
    one, other = (fit_worker_model(v, flat_prior(v), PRIOR, estimate_prior=True) for v in (votes, shuffled))
    np.testing.assert_allclose(one.confusion, other.confusion, atol=1e-9)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_single_votes_do_not_turn_a_rare_label_into_a_common_error(share):
    n = 200
    label = (np.arange(n) < share * n).astype(np.int32)
    votes = Votes(np.arange(n), np.arange(n) % 40, label, np.arange(n), np.arange(40), np.arange(2))
    model = fit_worker_model(votes, flat_prior(votes), PRIOR, estimate_prior=True)
    assert abs(model.posterior[:, 1].mean() - share) < 0.05


def test_errors_of_the_prior_have_the_shares_of_labels():
    votes = Votes(np.arange(98), np.zeros(98), np.repeat([0, 1], [73, 25]), np.arange(98), [0], [0, 1])
    counts = with_label_shares(PRIOR, votes, np.zeros((1, 2, 2)))
    knows = (PRIOR[0, 0, 0] - PRIOR[0, 0, 1]) / PRIOR[0, 0].sum()
    expected = knows * np.eye(2) + (1 - knows) * np.array([74, 26]) / 100
    np.testing.assert_allclose(to_probs(counts)[0], expected)
    np.testing.assert_allclose(counts.sum(axis=2), PRIOR.sum(axis=2))
