from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from crowdpilot.arrays import softmax, to_probs
from crowdpilot.calibration import Fusion, fit_fusion, fit_fusion_on_votes
from crowdpilot.confusion_matrices import hear
from crowdpilot.metrics import log_loss
from crowdpilot.votes import Votes


def crowd(tasks=3000, K=3, votes_each=3, skill=0.7, heat=1.0, seed=0):
    """Honest probabilities of a machine (made `heat` times too sure), and independent votes."""
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
    return softmax(heat * logits), votes, np.log(confusion), truth


def test_with_weights_of_one_it_is_bayes_rule():
    machine, votes, logs, _ = crowd(50)
    joint = machine * np.exp(hear(votes, logs))
    np.testing.assert_allclose(Fusion()(machine, hear(votes, logs)), to_probs(joint))


def test_without_the_machine_the_crowd_and_the_prior_are_left():
    machine, votes, logs, _ = crowd(50)
    prior = np.array([0.5, 0.3, 0.2])
    found = Fusion(0, 1)(machine, hear(votes, logs), prior)
    np.testing.assert_allclose(found, to_probs(prior * np.exp(hear(votes, logs))))


def test_the_prior_is_not_counted_twice():
    machine, votes, logs, _ = crowd(50)
    prior = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(
        Fusion()(machine, hear(votes, logs), prior), Fusion()(machine, hear(votes, logs))
    )


@pytest.mark.parametrize("heat", [0.5, 1.0, 3.0])
def test_the_truth_tells_how_much_too_sure_a_machine_is(heat):
    machine, votes, logs, truth = crowd(heat=heat)
    found = fit_fusion(machine, hear(votes, logs), truth)
    assert found.machine * heat == pytest.approx(1, abs=0.15)
    assert found.crowd == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("heat", [0.5, 1.0, 3.0])
def test_held_out_votes_tell_it_too(heat):
    machine, votes, _, truth = crowd(6000, heat=heat)
    found = fit_fusion_on_votes(machine, votes, np.eye(3)[truth])
    assert found.machine * heat == pytest.approx(1, abs=0.2)
    assert found.crowd == pytest.approx(1, abs=0.25)


def test_votes_that_repeat_each_other_count_less():
    machine, votes, logs, truth = crowd(votes_each=1)
    heard = 4 * hear(votes, logs)  # three others have copied each vote
    assert fit_fusion(machine, heard, truth).crowd == pytest.approx(0.25, abs=0.05)


def test_it_is_where_another_optimizer_ends():
    machine, votes, logs, truth = crowd(500, heat=2.0, seed=3)
    heard = hear(votes, logs)
    found = fit_fusion(machine, heard, truth)
    best = minimize(lambda x: log_loss(truth, Fusion(*x)(machine, heard)), [0.5, 0.5], method="Nelder-Mead")
    assert [found.machine, found.crowd] == pytest.approx(best.x, abs=2e-3)


def test_tasks_of_unknown_class_teach_nothing():
    machine, votes, logs, truth = crowd(400)
    heard, known = hear(votes, logs), np.where(np.arange(400) < 200, truth, -1)
    assert fit_fusion(machine, heard, known) == fit_fusion(machine, heard, truth, weight=np.arange(400) < 200)


@given(st.floats(0, 10), st.floats(0, 10))
def test_beliefs_sum_to_one(a, b):
    machine, votes, logs, _ = crowd(20)
    np.testing.assert_allclose(Fusion(a, b)(machine, hear(votes, logs)).sum(axis=1), 1)


def test_wrong_input_is_told_in_a_sentence():
    machine, votes, logs, truth = crowd(20)
    heard = hear(votes, logs)
    with pytest.raises(ValueError, match="sum to 1"):
        fit_fusion(machine * 2, heard, truth)
    with pytest.raises(ValueError, match="the prior has 2 numbers"):
        fit_fusion(machine, heard, truth, prior=[0.5, 0.5])
    with pytest.raises(ValueError, match="no task has a known class"):
        fit_fusion(machine, heard, np.full(20, -1))
    with pytest.raises(ValueError, match="the votes are heard for"):
        fit_fusion(machine, heard[:5], truth)
    with pytest.raises(ValueError, match="the votes are heard for"):
        Fusion()(machine, heard[:, :2])
    with pytest.raises(ValueError, match="expected a row for each of 20 tasks"):
        fit_fusion_on_votes(machine[:3], votes, np.eye(3)[truth])
