from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from crowdpilot.arrays import softmax, to_probs
from crowdpilot.calibration import FusionWeights, fit_fusion, fit_fusion_on_votes
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.metrics import log_loss
from crowdpilot.votes import Votes


def classifier_and_votes(tasks=3000, K=3, votes_each=3, skill=0.7, sharpness=1.0, seed=0):
    """Calibrated probabilities of a classifier (logits multiplied by `sharpness`), and independent votes."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.5, (tasks, K))
    honest = softmax(logits)
    truth = (honest.cumsum(axis=1) < rng.random((tasks, 1))).sum(axis=1)
    confusion = np.full((5, K, K), (1 - skill) / (K - 1))
    confusion[:, range(K), range(K)] = skill
    task = np.repeat(np.arange(tasks), votes_each)
    worker = np.tile(np.arange(5), -(-len(task) // 5))[: len(task)]
    right = rng.random(len(task)) < skill
    wrong = (truth[task] + rng.integers(1, K, len(task))) % K
    votes = Votes.of(task, worker, np.where(right, truth[task], wrong), classes=range(K))
    return softmax(sharpness * logits), votes, np.log(confusion), truth


def test_with_weights_of_one_it_is_bayes_rule():
    probs, votes, log_confusion, _ = classifier_and_votes(50)
    joint = probs * np.exp(votes_log_likelihood(votes, log_confusion))
    np.testing.assert_allclose(
        FusionWeights()(probs, votes_log_likelihood(votes, log_confusion)), to_probs(joint)
    )


def test_without_the_classifier_the_crowd_and_the_prior_are_left():
    probs, votes, log_confusion, _ = classifier_and_votes(50)
    prior = np.array([0.5, 0.3, 0.2])
    found = FusionWeights(0, 1)(probs, votes_log_likelihood(votes, log_confusion), prior)
    np.testing.assert_allclose(found, to_probs(prior * np.exp(votes_log_likelihood(votes, log_confusion))))


def test_the_prior_is_not_counted_twice():
    probs, votes, log_confusion, _ = classifier_and_votes(50)
    prior = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        FusionWeights()(probs, votes_log_likelihood(votes, log_confusion), prior),
        FusionWeights()(probs, votes_log_likelihood(votes, log_confusion)),
    )


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_the_truth_gives_the_weight_of_an_overconfident_classifier(sharpness):
    probs, votes, log_confusion, truth = classifier_and_votes(sharpness=sharpness)
    found = fit_fusion(probs, votes_log_likelihood(votes, log_confusion), truth)
    assert found.classifier * sharpness == pytest.approx(1, abs=0.15)
    assert found.crowd == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_held_out_votes_give_it_too(sharpness):
    probs, votes, _, truth = classifier_and_votes(6000, sharpness=sharpness)
    found = fit_fusion_on_votes(probs, votes, np.eye(3)[truth])
    assert found.classifier * sharpness == pytest.approx(1, abs=0.2)
    assert found.crowd == pytest.approx(1, abs=0.25)


def test_votes_that_repeat_each_other_count_less():
    probs, votes, log_confusion, truth = classifier_and_votes(votes_each=1)
    log_likelihood = 4 * votes_log_likelihood(votes, log_confusion)  # three others have copied each vote
    assert fit_fusion(probs, log_likelihood, truth).crowd == pytest.approx(0.25, abs=0.05)


def test_it_is_where_another_optimizer_ends():
    probs, votes, log_confusion, truth = classifier_and_votes(500, sharpness=2.0, seed=3)
    log_likelihood = votes_log_likelihood(votes, log_confusion)
    found = fit_fusion(probs, log_likelihood, truth)
    best = minimize(
        lambda x: log_loss(truth, FusionWeights(*x)(probs, log_likelihood)), [0.5, 0.5], method="Nelder-Mead"
    )
    assert [found.classifier, found.crowd] == pytest.approx(best.x, abs=2e-3)


def test_tasks_of_unknown_class_teach_nothing():
    probs, votes, log_confusion, truth = classifier_and_votes(400)
    log_likelihood, known = (
        votes_log_likelihood(votes, log_confusion),
        np.where(np.arange(400) < 200, truth, -1),
    )
    assert fit_fusion(probs, log_likelihood, known) == fit_fusion(
        probs, log_likelihood, truth, weight=np.arange(400) < 200
    )


@given(st.floats(0, 10), st.floats(0, 10))
def test_posteriors_sum_to_one(a, b):
    probs, votes, log_confusion, _ = classifier_and_votes(20)
    np.testing.assert_allclose(
        FusionWeights(a, b)(probs, votes_log_likelihood(votes, log_confusion)).sum(axis=1), 1
    )


def test_wrong_input_is_refused_in_one_sentence():
    probs, votes, log_confusion, truth = classifier_and_votes(20)
    log_likelihood = votes_log_likelihood(votes, log_confusion)
    with pytest.raises(ValueError, match="sum to 1"):
        fit_fusion(probs * 2, log_likelihood, truth)
    with pytest.raises(ValueError, match="the prior has 2 numbers"):
        fit_fusion(probs, log_likelihood, truth, prior=[0.5, 0.5])
    with pytest.raises(ValueError, match="no task has a known class"):
        fit_fusion(probs, log_likelihood, np.full(20, -1))
    with pytest.raises(ValueError, match="the log-likelihood has shape"):
        fit_fusion(probs, log_likelihood[:5], truth)
    with pytest.raises(ValueError, match="the log-likelihood has shape"):
        FusionWeights()(probs, log_likelihood[:, :2])
    with pytest.raises(ValueError, match="expected a row for each of 20 tasks"):
        fit_fusion_on_votes(probs[:3], votes, np.eye(3)[truth])
