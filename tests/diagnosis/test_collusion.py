"""Who copies is found, who merely errs alike is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from crowdpilot.aggregation import Aggregator, DawidSkene, MajorityVoting
from crowdpilot.diagnosis import Collusion, detect_collusion, leave_one_out_posteriors
from crowdpilot.simulation import HammerSpammer, IndependentConfusion, OneCoin, StudentTeacher
from crowdpilot.votes import Votes
from tests.crowds import one_coin_crowd

HONEST = {"tasks": 1000, "workers": 40, "votes_per_task": 10}


def look(votes: Votes, model: Aggregator | None = None) -> Collusion:
    return detect_collusion(leave_one_out_posteriors((model or DawidSkene()).fit(votes)))


@pytest.mark.parametrize("K", [2, 4, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_groups_are_found_with_their_members(K: int, seed: int) -> None:
    made = one_coin_crowd(
        seed, tasks=2000, workers=40, votes_per_task=10, classes=K, colluding=0.15, group_size=3
    )
    found = look(made.votes)
    np.testing.assert_array_equal(found.flags, made.group >= 0)
    same_group = made.group[found.flags][:, None] == made.group[found.flags]
    np.testing.assert_array_equal(found.group[found.flags][:, None] == found.group[found.flags], same_group)
    assert (found.group[~found.flags] == -1).all()
    assert set(found.group[found.flags]) == {0, 1}


def test_the_largest_ratios_come_first_and_shared_tasks_are_counted() -> None:
    made = one_coin_crowd(0, **HONEST, classes=4, colluding=0.15, group_size=3)
    pairs = look(made.votes).pairs
    assert (pairs.first < pairs.second).all()
    assert (np.diff(pairs.log10_ratio) <= 0).all()
    assert (made.group[pairs.first[:6]] == made.group[pairs.second[:6]]).all()
    label = np.full((1000, 40), -1)
    label[made.votes.task, made.votes.worker] = made.votes.label
    for a, b, shared, same in list(zip(*pairs[:4], strict=True))[::50]:
        both = (label[:, a] >= 0) & (label[:, b] >= 0)
        assert shared == both.sum()
        assert same == (label[both, a] == label[both, b]).sum()


def test_the_ratio_is_that_of_the_formula() -> None:
    """By a loop over shared tasks; nobody is misled here, so the base copy rate is zero."""
    made = one_coin_crowd(3, tasks=150, workers=8, votes_per_task=6, classes=3, colluding=0.25, group_size=2)
    loo = leave_one_out_posteriors(DawidSkene().fit(made.votes))
    pairs = detect_collusion(loo).pairs
    votes = made.votes
    p = (loo.posterior * loo.confusion[votes.worker, :, votes.label]).sum(axis=1)
    row = {(t, w): n for n, (t, w) in enumerate(zip(votes.task, votes.worker, strict=True))}
    a, b = pairs.first[0], pairs.second[0]
    logs = np.zeros(3)
    for task in range(150):
        if (task, a) in row and (task, b) in row:
            n, m = row[task, a], row[task, b]
            for i, c in enumerate((0.4, 0.7, 0.95)):
                if votes.label[n] == votes.label[m]:
                    logs[i] += (np.log((1 - c) + c / p[n]) + np.log((1 - c) + c / p[m])) / 2
                else:
                    logs[i] += np.log(1 - c)
    expected = np.log10(np.exp(logs).mean())
    assert expected > 3
    assert pairs.log10_ratio[0] == pytest.approx(expected, rel=0.2)  # votes on the task may be blended in


def twins(seed: int) -> Votes:
    """Two bad workers among good ones, who do not know each other."""
    skill = np.random.default_rng(seed).uniform(0.7, 0.95, 40)
    skill[:2] = 0.3
    return OneCoin(skill=tuple(skill), **HONEST, classes=4, seed=seed).run().votes


def same_label(seed: int) -> Votes:
    """Two who always give the first label."""
    votes = one_coin_crowd(seed, **HONEST, classes=4).votes
    return replace(votes, label=np.where(votes.worker < 2, 0, votes.label))


def misleading(seed: int) -> Votes:
    """A fifth of the tasks looks to half of the votes like one and the same wrong class."""
    made = one_coin_crowd(seed, **HONEST, classes=4)
    rng = np.random.default_rng(seed)
    lure = (made.truth + rng.integers(1, 4, len(made.truth))) % 4
    fooled = (rng.random(len(lure)) < 0.2)[made.votes.task] & (rng.random(len(made.votes)) < 0.5)
    return replace(made.votes, label=np.where(fooled, lure[made.votes.task], made.votes.label))


CROWDS: dict[str, Callable[[int], Votes]] = {
    "few votes": lambda s: one_coin_crowd(s, tasks=300, workers=40, votes_per_task=3, classes=4).votes,
    "many votes": lambda s: one_coin_crowd(s, **HONEST, classes=2).votes,
    "bad workers": lambda s: one_coin_crowd(s, 0.3, 0.7, **HONEST, classes=10).votes,
    "matrices of their own": lambda s: IndependentConfusion(**HONEST, classes=4, seed=s).run().votes,
    "matrices in common": lambda s: StudentTeacher(**HONEST, classes=4, seed=s).run().votes,
    "spammers": lambda s: HammerSpammer(**HONEST, classes=4, ratio=0.4, seed=s).run().votes,
    "two bad ones": twins,
    "two with one label": same_label,
    "misleading tasks": misleading,
    "a team of five": lambda s: one_coin_crowd(s, tasks=2000, workers=5, votes_per_task=3, classes=10).votes,
    "a team of four": lambda s: one_coin_crowd(s, tasks=1000, workers=4, classes=4).votes,
    "a team of eight": lambda s: one_coin_crowd(s, tasks=1500, workers=8, votes_per_task=4, classes=3).votes,
}


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.parametrize("crowd", CROWDS)
def test_honest_workers_are_not_flagged(crowd: str, seed: int) -> None:
    found = look(CROWDS[crowd](seed))
    assert not found.flags.any()
    assert (found.group == -1).all()


@pytest.mark.parametrize("crowd", ["two bad ones", "a team of five"])
def test_honest_workers_are_not_flagged_by_majority_voting(crowd: str) -> None:
    assert not look(CROWDS[crowd](1), MajorityVoting()).flags.any()


@pytest.mark.parametrize("crowd", CROWDS)
def test_the_ratio_of_honest_pairs_has_a_mean_of_one_at_most(crowd: str) -> None:
    """Pairs that were not looked at count as zero."""
    sums, pairs = 0.0, 0
    for seed in range(4):
        votes = CROWDS[crowd](seed)
        met = (votes.onehot.reshape(-1, len(votes.classes)).sum(axis=1) > 0).reshape(len(votes.tasks), -1)
        pairs += int((np.triu(met.T.astype(int) @ met, 1) > 0).sum())
        sums += float((10 ** look(votes).pairs.log10_ratio).sum())
    assert sums / pairs < 1.2


def test_the_ratio_of_a_worker_is_that_of_the_worst_pair() -> None:
    found = look(one_coin_crowd(0, **HONEST, classes=4, colluding=0.1, group_size=2).votes)
    for worker in range(40):
        mine = (found.pairs.first == worker) | (found.pairs.second == worker)
        assert found.log10_ratio[worker] == max([0.0, *found.pairs.log10_ratio[mine]])


def test_the_order_of_votes_does_not_matter() -> None:
    votes = one_coin_crowd(0, **HONEST, classes=4, colluding=0.15, group_size=3).votes
    shuffled = votes.take(np.random.default_rng(0).permutation(len(votes)))
    one, other = look(votes), look(shuffled)
    np.testing.assert_array_equal(one.group, other.group)
    np.testing.assert_allclose(one.log10_ratio, other.log10_ratio, atol=1e-6)


def test_a_repeated_vote_is_no_evidence() -> None:
    honest = one_coin_crowd(1, tasks=60, workers=6, votes_per_task=4, classes=4).votes
    assert not look(honest.take(np.repeat(np.arange(len(honest)), 5))).flags.any()
    made = one_coin_crowd(0, **HONEST, classes=4, colluding=0.15, group_size=3)
    again = look(made.votes.take(np.repeat(np.arange(len(made.votes)), 3)))
    np.testing.assert_array_equal(again.flags, made.group >= 0)
    assert again.pairs.shared_tasks.max() < 200
    assert (again.pairs.same_labels <= again.pairs.shared_tasks).all()


@pytest.mark.parametrize("weight", [0.1, 0.3, 7.0])
def test_a_common_weight_changes_little(weight: float) -> None:
    honest = one_coin_crowd(2, tasks=200, workers=20, votes_per_task=5, classes=4).votes
    assert not look(replace(honest, weight=np.full(len(honest), weight))).flags.any()
    made = one_coin_crowd(0, **HONEST, classes=4, colluding=0.15, group_size=3)
    found = look(replace(made.votes, weight=np.full(len(made.votes), weight)))
    np.testing.assert_array_equal(found.flags, made.group >= 0)


def test_votes_of_weight_zero_are_none() -> None:
    made = one_coin_crowd(0, **HONEST, classes=4, colluding=0.15, group_size=3)
    silent = (made.group == 0)[made.votes.worker]
    found = look(replace(made.votes, weight=np.where(silent, 0.0, 1.0)))
    np.testing.assert_array_equal(found.flags, made.group == 1)


def test_a_smaller_rate_flags_no_more() -> None:
    loo = leave_one_out_posteriors(
        DawidSkene().fit(one_coin_crowd(5, 0.6, **HONEST, classes=2, colluding=0.2, group_size=2).votes)
    )
    counts = [detect_collusion(loo, rate).flags.sum() for rate in (1e-6, 0.01, 0.3)]
    assert counts == sorted(counts)
    assert counts[-1] > 0


@pytest.mark.parametrize(
    "votes",
    [
        Votes.of([1], ["x"], ["a"]),
        Votes.of([1, 1], ["x", "y"], ["a", "a"]),
        Votes.of([1, 2, 3], ["x", "x", "x"], ["a", "b", "a"]),
        Votes.of([1, 2], ["x", "y"], ["a", "b"], classes=["a", "b", "c"], tasks=[3, 4]),
    ],
)
def test_a_handful_of_votes_flags_nobody(votes: Votes) -> None:
    found = look(votes, MajorityVoting())
    assert not found.flags.any()
    assert len(found.log10_ratio) == len(votes.workers)


def test_pairs_are_compared_in_parts(monkeypatch) -> None:
    votes = one_coin_crowd(0, **HONEST, classes=4, colluding=0.15, group_size=3).votes
    whole = look(votes)
    monkeypatch.setattr(import_module("crowdpilot.diagnosis.collusion"), "MAX_CELLS_PER_BLOCK", 1000)
    parts = look(votes)
    for one, other in zip(whole.pairs, parts.pairs, strict=True):
        np.testing.assert_allclose(one, other)
