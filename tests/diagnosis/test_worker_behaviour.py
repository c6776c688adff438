"""Seconds, labels and agreement of each worker are what a loop would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from crowdpilot.aggregation import DawidSkene, MajorityVoting
from crowdpilot.diagnosis.leave_one_out import leave_one_out_posteriors
from crowdpilot.diagnosis.worker_behaviour import (
    gold_accuracy,
    label_use,
    peer_agreement,
    quantiles_by,
    response_times,
)
from crowdpilot.simulation import HammerSpammer, one_coin
from crowdpilot.votes import Votes

values = st.lists(st.tuples(st.integers(0, 4), st.floats(-1e6, 1e6)), max_size=40)
levels = st.lists(st.floats(0, 1), min_size=1, max_size=4)


@settings(deadline=None)
@given(values, levels)
def test_quantiles_are_those_of_numpy_in_each_group(rows: list, levels: list[float]) -> None:
    code = np.array([c for c, _ in rows], np.int32)
    value = np.array([v for _, v in rows], float)
    found = quantiles_by(code, value, 6, tuple(levels))
    for group in range(6):
        mine = value[code == group]
        expected = np.quantile(mine, levels) if len(mine) else np.full(len(levels), np.nan)
        np.testing.assert_allclose([column[group] for column in found], expected, atol=1e-6)


def test_seconds_that_are_missing_do_not_count() -> None:
    worker = ["a"] * 5 + ["b"] * 3 + ["c"]
    seconds = [1, 2, np.nan, 3, 4, 30, 40, np.inf, np.nan]
    votes = Votes.of(range(9), worker, ["x"] * 9, seconds=seconds)
    found = response_times(votes, 0.5)
    assert found.fast_limit == 0.5 * np.median([1, 2, 3, 4, 30, 40])
    np.testing.assert_allclose(found.median, [2.5, 35, np.nan])
    np.testing.assert_allclose(found.p10, [1.3, 31, np.nan])
    np.testing.assert_allclose(found.p90, [3.7, 39, np.nan])
    np.testing.assert_allclose(found.fast_share, [0.25, 0, np.nan])


def test_without_seconds_nobody_is_fast() -> None:
    with pytest.raises(ValueError, match="the votes have no seconds"):
        response_times(Votes.of([1], ["a"], ["x"]), 0.5)
    nothing = response_times(Votes.of([1], ["a"], ["x"], seconds=[np.nan]), 0.5)
    assert np.isnan([*nothing.median, *nothing.fast_share, nothing.fast_limit]).all()


def test_simulated_spammers_have_most_fast_votes() -> None:
    made = HammerSpammer(tasks=500, workers=20, ratio=0.3, votes_per_task=8, seconds=10.0).run()
    found = response_times(made.votes, 1 / 3)
    assert found.fast_share[14:].mean() > 3 * found.fast_share[:14].mean()
    assert ((found.p10 <= found.median) & (found.median <= found.p90)).all()


def test_the_label_used_most_is_counted() -> None:
    votes = one_coin(tasks=60, skill=[0.9, 0.8, 0.7, 0.5], classes=3, votes_per_task=3, seed=0).votes
    loo = leave_one_out_posteriors(DawidSkene().fit(votes))
    found = label_use(loo)
    for worker in range(4):
        mine = votes.worker == worker
        said = np.bincount(votes.label[mine], minlength=3)
        label = said.argmax()
        classes = loo.posterior[mine].mean(axis=0)
        due = max(classes[label], (classes @ loo.crowd_confusion)[label])
        assert found.label[worker] == label
        assert found.share[worker] == pytest.approx(said[label] / mine.sum())
        assert found.excess[worker] == pytest.approx(said[label] / mine.sum() - due)
        p = 3 * binomtest(int(said[label]), int(mine.sum()), due, "greater").pvalue
        assert found.p[worker] == pytest.approx(min(1, p))


def test_always_the_same_label_stands_out_unless_the_tasks_explain_it() -> None:
    made = one_coin(tasks=200, skill=[0.9] * 8, classes=2, prior=(0.5, 0.5), seed=1)
    label = np.where(made.votes.worker == 3, 0, made.votes.label)
    stuck = label_use(
        leave_one_out_posteriors(DawidSkene().fit(Votes.of(made.votes.task, made.votes.worker, label)))
    )
    assert stuck.share[3] == 1
    assert stuck.p[3] < 1e-6
    assert np.delete(stuck.p, 3).min() > 0.01
    skewed = one_coin(tasks=200, skill=[0.97] * 8, classes=2, prior=(0.97, 0.03), seed=1).votes
    assert label_use(leave_one_out_posteriors(DawidSkene().fit(skewed))).p.min() > 0.01


def test_few_votes_say_nothing_about_the_use_of_labels() -> None:
    votes = Votes.of([1, 2, 3, 4, 1], ["a", "a", "a", "a", "b"], ["x", "x", "x", "x", "y"])
    found = label_use(leave_one_out_posteriors(MajorityVoting().fit(votes)))
    assert np.isnan(found.p).all()
    np.testing.assert_allclose(found.share, [1, 1])


rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30)


@settings(deadline=None)
@given(rows)
def test_agreement_with_peers_is_the_share_of_equal_votes_of_others(rows: list) -> None:
    task, worker, label = np.array(rows).T
    votes = Votes.of(task, worker, label, classes=range(3), repeats="all")
    expected = []
    for w in range(len(votes.workers)):
        pairs = [
            a[2] == b[2]
            for a in zip(votes.task, votes.worker, votes.label, strict=True)
            for b in zip(votes.task, votes.worker, votes.label, strict=True)
            if a[0] == b[0] and a[1] == w and b[1] != w
        ]
        expected.append(np.mean(pairs) if pairs else np.nan)
    np.testing.assert_allclose(peer_agreement(votes), expected)


@settings(deadline=None)
@given(rows, st.lists(st.integers(-1, 2), min_size=6, max_size=6))
def test_accuracy_on_known_tasks_is_the_share_of_right_votes(rows: list, gold: list[int]) -> None:
    task, worker, label = np.array(rows).T
    names = np.arange(6), np.arange(4), np.arange(3)
    votes = Votes(task, worker, label, *names, gold=np.array(gold))
    count, accuracy = gold_accuracy(votes, np.array(gold))
    for w in range(4):
        right = [g == said for t, v, said in rows if v == w and (g := gold[t]) >= 0]
        assert count[w] == len(right)
        assert accuracy[w] == pytest.approx(np.mean(right) if right else np.nan, nan_ok=True)
