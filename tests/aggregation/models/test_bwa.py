"""Bayesian weighted average of the votes."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from crowdpilot.aggregation.base import NotConverged
from crowdpilot.aggregation.class_prior import fixed_prior
from crowdpilot.aggregation.models.bwa import BWA
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.aggregation.models.majority_voting import MajorityVoting
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def right(result, truth) -> float:
    return float((result.codes == truth).mean())


def test_the_likelihood_of_two_classes_is_that_of_normal_measurements_of_a_normal_score():
    """With two classes the score is one number, and the votes 0 or 1 are jointly normal."""
    precision, strength, prior = np.array([3.0, 0.5, 2.0]), 1.5, np.array([0.3, 0.7])
    votes = Votes([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 0, 1, 0, 0], [1, 2], list("xyz"), [0, 1]).merged
    _, log_likelihood = BWA(strength=strength).e_step(votes, precision, prior)
    exact = 0.0
    for task in (0, 1):
        mine = votes.task == task
        spread = np.diag(1 / precision[votes.worker[mine]]) + 1 / strength
        exact += multivariate_normal.logpdf(votes.label[mine], np.full(mine.sum(), prior[1]), spread)
    assert log_likelihood == pytest.approx(exact + len(votes) / 2 * np.log(2 * np.pi))


def test_the_score_is_the_weighted_average_of_the_votes_and_the_prior():
    votes = Votes([0, 0, 0], [0, 1, 2], [2, 0, 2], [1], list("xyz"), list("abc")).merged
    score, _ = BWA(strength=2).e_step(votes, np.array([3.0, 1.0, 4.0]), np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(score.mean, [[(1 + 1) / 10, 0.5 / 10, (0.5 + 7) / 10]])
    np.testing.assert_allclose(score.variance, [0.1])


@pytest.mark.parametrize("gold", [False, True])
@pytest.mark.parametrize("a", [0.5, 15])
def test_the_objective_never_falls(simulated, a, gold):
    votes, truth = simulated
    votes = votes.with_gold({n: truth[n] for n in range(0, 150, 4)}) if gold else votes
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        trace = BWA(a=a, tol=-1, max_iter=80).fit(votes).trace
    assert np.diff(trace).min() > -1e-9
    assert trace[-1] > trace[0] + 0.1


def test_better_workers_have_more_precision_and_it_beats_the_plain_count():
    votes, truth = one_coin(tasks=400, skill=[0.95, 0.9, 0.55, 0.5, 0.45, 0.4], classes=3, seed=0)
    result = BWA().fit(votes)
    assert (np.diff(result.params["precision"]) < 0).all()
    assert right(result, truth) > right(MajorityVoting().fit(votes), truth) + 0.04


def test_a_stronger_prior_makes_workers_more_alike():
    votes, _ = one_coin(tasks=100, skill=[0.95, 0.8, 0.7, 0.6], seed=0)
    free, held = (BWA(a=a).fit(votes).params["precision"] for a in (1, 1e6))
    assert free.max() / free.min() > 1.5
    assert held.max() / held.min() < 1.001


def test_unanimous_votes_leave_the_precision_finite():
    votes = Votes.of(np.repeat([1, 2], 3), list("xyz") * 2, list("aaabbb"))
    result = BWA().fit(votes)
    assert result.labels.tolist() == ["a", "b"]
    assert np.isfinite(result.params["precision"]).all()
    assert result.converged


def test_gold_is_certain_and_tells_who_is_precise():
    votes, truth = one_coin(tasks=200, skill=[0.95, 0.3, 0.3, 0.3], classes=2, seed=0)
    known = {n: truth[n] for n in range(0, 200, 2)}
    result = BWA().fit(votes.with_gold(known))
    assert result.params["precision"].argmax() == 0
    assert BWA().fit(votes).params["precision"].argmax() != 0
    np.testing.assert_array_equal(result.codes[::2], truth[::2])


def test_history_is_prior_knowledge_of_workers():
    votes, _ = one_coin(tasks=400, skill=[0.95, 0.6, 0.8, 0.8], seed=0)
    before = BWA().fit(votes.take(votes.task < 380))
    few = replace(votes, workers=np.array(["0", "1", "2", "new"])).take(votes.task >= 380)
    alone, with_gold = (BWA().fit(few, history=h).params["precision"] for h in (None, before))
    past = before.params["precision"]
    assert np.abs(with_gold - past)[:3].max() < 0.3 < np.abs(alone - past)[0]
    assert with_gold[3] == pytest.approx(alone[3], rel=0.1)


def test_a_class_prior_decides_a_tie():
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    np.testing.assert_allclose(BWA().fit(votes).probs, [[0.5, 0.5]])
    assert BWA(prior=(0.2, 0.8)).fit(votes).labels.tolist() == ["b"]


@pytest.mark.parametrize("prior", [(0.5, 0.25, 0.25), (0.5, 0.4), (1.0, 0.0)])
def test_a_class_prior_that_is_none_is_refused(prior):
    with pytest.raises(ValueError, match="expected 2 positive numbers that sum to 1"):
        fixed_prior(prior, 2)


def test_a_start_elsewhere_ends_at_the_same_answer(simulated):
    votes, _ = simulated
    model = BWA(tol=1e-10)
    result = model.fit(votes)
    again = model.fit(votes, start=DawidSkene().fit(votes))
    assert again.trace[0] != pytest.approx(result.trace[0])
    np.testing.assert_allclose(again.probs, result.probs, atol=1e-4)
