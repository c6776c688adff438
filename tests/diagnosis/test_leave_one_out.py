"""Leave-one-out posteriors are those of one E-step without the worker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial as scipys

from crowdpilot.aggregation import Aggregate, DawidSkene, MajorityVoting, NaiveSoft
from crowdpilot.aggregation.workers.confusion import log_dirichlet_multinomial
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut, leave_one_out_posteriors
from crowdpilot.simulation import HammerSpammer, one_coin
from crowdpilot.votes import Votes


def draw(seed: int, K: int = 3, *, weighted: bool = False, repeats: bool = False) -> Votes:
    """Random votes on few tasks, some of which nobody votes on."""
    rng = np.random.default_rng(seed)
    task, worker, label = rng.integers(8, size=40), rng.integers(5, size=40), rng.integers(K, size=40)
    weight = rng.choice([0.3, 1, 2.5], 40) if weighted else None
    again = "all" if repeats else "last"
    return Votes.of(task, worker, label, classes=range(K), tasks=range(10), weight=weight, repeats=again)


def posterior_by_hand(votes: Votes, loo: LeaveOneOut) -> np.ndarray:
    """The step of Dawid and Skene, vote by vote, on the votes of all other workers."""
    found = []
    for n in range(len(votes)):
        odds = loo.prior.copy()
        for m in range(len(votes)):
            if votes.task[m] == votes.task[n] and votes.worker[m] != votes.worker[n]:
                odds *= loo.confusion[votes.worker[m], :, votes.label[m]] ** votes.weights[m]
        found.append(odds / odds.sum())
    return np.array(found)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_posterior_is_one_e_step_without_the_worker(K: int, weighted: bool, repeats: bool) -> None:
    votes = draw(K, K, weighted=weighted, repeats=repeats)
    loo = leave_one_out_posteriors(NaiveSoft().fit(votes))
    np.testing.assert_allclose(loo.posterior, posterior_by_hand(votes, loo), atol=1e-12)
    np.testing.assert_allclose(loo.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(loo.confusion.sum(axis=2), 1)


def test_repeated_votes_of_a_worker_do_not_confirm_each_other() -> None:
    task, worker, label = [1, 1, 1, 1], ["a", "a", "a", "b"], ["x", "x", "x", "y"]
    thrice = leave_one_out_posteriors(MajorityVoting().fit(Votes.of(task, worker, label, repeats="all")))
    heavy = leave_one_out_posteriors(
        MajorityVoting().fit(Votes.of([1, 1], ["a", "b"], ["x", "y"], weight=[3, 1]))
    )
    np.testing.assert_allclose(thrice.p_correct[[0, 3]], heavy.p_correct)
    assert thrice.p_correct[0] == thrice.p_correct[1] == thrice.p_correct[2]


def test_a_weight_of_two_is_two_equal_votes(simulated) -> None:
    votes, _ = simulated
    double = np.arange(len(votes)) % 3 == 0
    twice = votes.take(np.concatenate([np.arange(len(votes)), np.flatnonzero(double)]))
    weighted = leave_one_out_posteriors(DawidSkene().fit(replace(votes, weight=np.where(double, 2.0, 1.0))))
    repeated = leave_one_out_posteriors(DawidSkene().fit(twice))
    np.testing.assert_allclose(weighted.posterior, repeated.posterior[: len(votes)], atol=1e-9)
    np.testing.assert_allclose(weighted.counts, repeated.counts, atol=1e-9)


def test_a_lonely_vote_meets_the_prior_alone() -> None:
    loo = leave_one_out_posteriors(MajorityVoting().fit(Votes.of([1, 2, 2], list("xyz"), list("abb"))))
    np.testing.assert_allclose(loo.posterior[0], loo.prior)


def test_known_classes_are_certain(simulated) -> None:
    votes, truth = simulated
    gold = np.where(np.arange(150) % 2, truth, -1)
    loo = leave_one_out_posteriors(DawidSkene().fit(replace(votes, gold=gold)))
    known = gold[votes.task] >= 0
    np.testing.assert_array_equal(loo.posterior[known], np.eye(3)[truth[votes.task[known]]])
    assert loo.posterior[~known].max(axis=1).min() < 1


def test_the_order_of_votes_does_not_matter(simulated) -> None:
    votes, _ = simulated
    order = np.random.default_rng(0).permutation(len(votes))
    one, other = (leave_one_out_posteriors(DawidSkene().fit(v)) for v in (votes, votes.take(order)))
    np.testing.assert_allclose(other.posterior, one.posterior[order], atol=1e-9)
    np.testing.assert_allclose(other.confusion, one.confusion, atol=1e-9)


def test_renaming_the_classes_renames_the_posterior(simulated) -> None:
    votes, _ = simulated
    new = np.array([2, 0, 1])
    one, other = (
        leave_one_out_posteriors(DawidSkene().fit(v)) for v in (votes, replace(votes, label=new[votes.label]))
    )
    np.testing.assert_allclose(other.posterior[:, new], one.posterior, atol=1e-6)
    np.testing.assert_allclose(other.confusion[:, new][:, :, new], one.confusion, atol=1e-6)
    np.testing.assert_allclose(other.crowd_confusion[new][:, new], one.crowd_confusion, atol=1e-6)
    np.testing.assert_allclose(other.p_correct, one.p_correct, atol=1e-6)


def test_sums_over_votes_are_what_a_loop_gives() -> None:
    votes = draw(3, weighted=True, repeats=True)
    loo = leave_one_out_posteriors(NaiveSoft().fit(votes))
    counts = np.zeros((len(votes.workers), 3, 3))
    for n in range(len(votes)):
        counts[votes.worker[n], :, votes.label[n]] += votes.weights[n] * loo.posterior[n]
        assert loo.p_correct[n] == loo.posterior[n, votes.label[n]]
    np.testing.assert_allclose(loo.counts, counts)
    mine = [loo.p_correct[votes.worker == w].mean() for w in range(len(votes.workers))]
    np.testing.assert_allclose(loo.worker_mean(loo.p_correct), mine)


def test_a_worker_without_votes_is_like_the_crowd(simulated) -> None:
    votes, _ = simulated
    loo = leave_one_out_posteriors(DawidSkene().fit(replace(votes, workers=np.arange(9))))
    np.testing.assert_allclose(loo.confusion[8], loo.crowd_confusion)
    assert np.isnan(loo.worker_mean(loo.p_correct)[8])
    assert loo.worker_votes[8] == 0


@pytest.mark.parametrize("K", [2, 4, 10])
def test_the_matrix_of_a_worker_with_many_votes_is_near_the_true_one(K: int) -> None:
    """Also where few workers of different skill make up the crowd."""
    made = one_coin(tasks=3000, skill=[0.95, 0.9, 0.75, 0.6, 0.5], classes=K, votes_per_task=3, seed=2)
    loo = leave_one_out_posteriors(DawidSkene().fit(made.votes))
    skill = np.trace(loo.confusion, axis1=1, axis2=2) / K
    np.testing.assert_allclose(skill, [0.95, 0.9, 0.75, 0.6, 0.5], atol=0.03)


def test_hammers_and_spammers_with_few_votes_are_separated() -> None:
    made = HammerSpammer(tasks=200, workers=40, classes=4, ratio=0.3, votes_per_task=5, seed=1).run()
    loo = leave_one_out_posteriors(DawidSkene().fit(made.votes))
    trace = np.trace(loo.confusion, axis1=1, axis2=2) / 4
    assert trace[:28].min() > 0.8
    assert trace[28:].max() < 0.65
    assert np.median(trace[28:]) < 0.35


def test_one_class_leaves_nothing_to_doubt() -> None:
    loo = leave_one_out_posteriors(MajorityVoting().fit(Votes.of([1, 1, 2], list("xyx"), ["a"] * 3)))
    np.testing.assert_array_equal(loo.posterior, np.ones((3, 1)))
    np.testing.assert_array_equal(loo.confusion, np.ones((2, 1, 1)))


def test_a_hundred_classes_and_sure_workers_do_not_underflow() -> None:
    made = one_coin(tasks=100, skill=[0.99] * 60, classes=100, seed=0)
    loo = leave_one_out_posteriors(MajorityVoting().fit(made.votes))
    assert np.isfinite(loo.posterior).all()
    assert loo.p_correct.mean() > 0.98


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0.01, 20)), min_size=2, max_size=6))
def test_counts_are_as_likely_as_scipy_says(cells: list[tuple[int, float]]) -> None:
    """Up to the number of orders in which the same counts can come."""
    counts, prior = (np.array(column) for column in zip(*cells, strict=True))
    orders = gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()
    expected = scipys.logpmf(counts, prior, counts.sum()) - orders
    np.testing.assert_allclose(log_dirichlet_multinomial(counts.astype(float), prior), expected, atol=1e-8)


def test_any_result_will_do(simulated) -> None:
    votes, truth = simulated
    certain = Aggregate(votes, np.eye(3)[truth], np.full(8, np.nan))
    assert leave_one_out_posteriors(certain).p_correct.mean() > 0.6
