"""Minimax entropy: tasks and workers both shift the odds of labels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp

from crowdpilot.aggregation.base import NotConverged
from crowdpilot.aggregation.models import minimax_entropy
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.aggregation.models.minimax_entropy import MinimaxEntropy
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def right(result, truth) -> float:
    return float((result.codes == truth).mean())


def objective(model, votes, worker, task) -> float:
    """The regularised log-likelihood, one vote at a time."""
    K = len(votes.classes)
    joint = np.full((len(votes.tasks), K), np.log(1 / K))
    for i, j, said, weight in zip(votes.task, votes.worker, votes.label, votes.weights, strict=True):
        joint[i] += weight * log_softmax(task[i] + worker[j], axis=1)[:, said]
    alpha, beta = model.penalties(votes)
    return logsumexp(joint, axis=1).sum() - alpha / 2 * (worker**2).sum() - beta / 2 * (task**2).sum()


def test_the_trace_ends_at_the_objective_of_its_parameters():
    votes, _ = one_coin(tasks=20, skill=[0.9, 0.7, 0.6], classes=3, seed=0)
    model = MinimaxEntropy()
    result = model.fit(votes)
    exact = objective(model, votes, result.params["worker"], result.params["task"])
    assert result.trace[-1] == pytest.approx(exact)


def test_no_small_change_of_the_parameters_is_better_in_the_end():
    votes, _ = one_coin(tasks=15, skill=[0.9, 0.7, 0.6, 0.8], classes=2, seed=0)
    model = MinimaxEntropy(tol=1e-12, max_iter=5000)
    result = model.fit(votes)
    worker, task = result.params["worker"], result.params["task"]
    top = objective(model, votes, worker, task)
    rng = np.random.default_rng(0)
    for _ in range(20):
        near = [a + 1e-3 * rng.standard_normal(a.shape) for a in (worker, task)]
        assert objective(model, votes, *near) < top


@pytest.mark.parametrize("gold", [False, True])
def test_the_objective_never_falls(simulated, gold):
    votes, truth = simulated
    votes = votes.with_gold({n: truth[n] for n in range(0, 150, 4)}) if gold else votes
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        trace = MinimaxEntropy(alpha=0.01, beta=0.01, tol=-1, max_iter=100).fit(votes).trace
    assert np.diff(trace).min() > -1e-9
    assert trace[-1] > trace[0] + 1


def test_the_strengths_follow_the_number_of_classes_and_of_votes():
    votes, _ = one_coin(tasks=30, skill=[0.9] * 6, classes=4, votes_per_task=2, seed=0)
    alpha, beta = MinimaxEntropy(alpha=0.5, beta=2).penalties(votes)
    votes_of_a_worker, votes_of_a_task = 60 / 6, 2
    assert alpha == 0.5 * 16
    assert beta == pytest.approx(2 * 16 * votes_of_a_worker / votes_of_a_task)


def confusing_tasks(seed: int) -> tuple[Votes, np.ndarray]:
    """On a quarter of the tasks most workers, all but the first eight of 30, take one class for the other."""
    votes, truth = one_coin(tasks=160, skill=[0.9] * 8 + [0.75] * 22, seed=seed)
    flip = (votes.task < 40) & (votes.worker >= 8)
    return Votes(
        votes.task, votes.worker, np.where(flip, 1 - votes.label, votes.label), votes.tasks, votes.workers,
        votes.classes,
    ), truth  # fmt: skip


def test_tasks_that_confuse_most_workers_are_understood_better_than_by_confusion_matrices():
    votes, truth = confusing_tasks(0)
    mine, theirs, count = (m.fit(votes) for m in (MinimaxEntropy(), DawidSkene(), MajorityVoting()))
    assert right(mine, truth) > 0.97 > 0.85 > max(right(theirs, truth), right(count, truth))


def test_workers_are_found_in_the_confusion_matrices():
    votes, truth = one_coin(tasks=500, skill=[0.95, 0.9, 0.8, 0.6, 0.5], classes=3, seed=0)
    result = MinimaxEntropy().fit(votes)
    right_each = np.einsum("jkk->j", result.params["confusion"]) / 3
    assert (np.diff(right_each) < 0).all()
    np.testing.assert_allclose(result.params["confusion"].sum(axis=2), 1)
    assert right(result, truth) > right(MajorityVoting().fit(votes), truth)


def test_the_parts_that_votes_are_worked_on_in_do_not_matter(simulated, monkeypatch):
    votes, truth = simulated
    votes = votes.with_gold({5: truth[5]})
    whole = MinimaxEntropy().fit(votes)
    monkeypatch.setattr(minimax_entropy, "MAX_CELLS_PER_PART", 500)
    np.testing.assert_allclose(MinimaxEntropy().fit(votes).probs, whole.probs, atol=1e-9)


def test_a_class_prior_decides_a_tie():
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    np.testing.assert_allclose(MinimaxEntropy().fit(votes).probs, [[0.5, 0.5]])
    assert MinimaxEntropy(prior=(0.3, 0.7)).fit(votes).labels.tolist() == ["b"]


def test_gold_turns_a_majority_of_liars_over():
    votes, truth = one_coin(tasks=200, skill=[0.1, 0.1, 0.1, 0.8, 0.8], seed=0)
    assert right(MinimaxEntropy().fit(votes), truth) < 0.2
    taught = votes.with_gold({n: truth[n] for n in range(100)})
    assert right(MinimaxEntropy().fit(taught), truth) > 0.9


def test_a_start_near_the_truth_leads_there():
    votes, truth = one_coin(tasks=200, skill=[0.1, 0.1, 0.1, 0.8, 0.8], seed=0)
    known = MajorityVoting().fit(votes.with_gold(dict(enumerate(truth))))
    assert right(MinimaxEntropy().fit(votes, start=known), truth) > 0.9


def test_history_is_refused():
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    with pytest.raises(ValueError, match="minimax_entropy cannot use the history of workers"):
        MinimaxEntropy().fit(votes, history=MinimaxEntropy().fit(votes))


def test_too_few_iterations_are_a_warning(simulated):
    votes, _ = simulated
    with pytest.warns(NotConverged, match=r"minimax_entropy\[max_iter=2\] did not converge in 2 iterations"):
        assert not MinimaxEntropy(max_iter=2).fit(votes).converged
