"""Whose skill changes is found, and nobody else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation import DawidSkene, MajorityVoting
from crowdpilot.diagnosis import Drift, detect_drift, leave_one_out_posteriors
from crowdpilot.diagnosis.false_discovery_rate import benjamini_hochberg
from crowdpilot.simulation import Simulation
from crowdpilot.votes import Votes
from tests.crowds import one_coin_crowd

SIZE = {"tasks": 1000, "workers": 50, "classes": 4, "votes_per_task": 10}


def sized_crowd(seed: int, low: float = 0.6, high: float = 0.95, **options) -> Simulation:
    return one_coin_crowd(seed, low, high, **(SIZE | options))


def steady(seed: int, **options) -> Votes:
    """Votes at random times of workers who do not change."""
    votes = sized_crowd(seed, **options).votes
    return replace(votes, time=np.random.default_rng(seed).random(len(votes)))


def look(votes: Votes) -> Drift:
    return detect_drift(leave_one_out_posteriors(DawidSkene().fit(votes)))


def flagged(votes: Votes) -> np.ndarray:
    return benjamini_hochberg(look(votes).p, 0.05)


def spoil(votes: Votes, lost: np.ndarray, seed: int = 0) -> Votes:
    """Let these votes be guesses."""
    guess = np.random.default_rng(seed).integers(len(votes.classes), size=len(votes))
    return replace(votes, label=np.where(lost, guess, votes.label))


@pytest.mark.parametrize("seed", range(4))
def test_those_who_guess_more_and_more_are_found(seed: int) -> None:
    made = sized_crowd(seed, 0.75, drifting=0.1, tasks=2000)
    found = look(made.votes)
    flags = benjamini_hochberg(found.p, 0.05)
    assert flags[made.drifting].all()
    assert (flags & ~made.drifting).sum() <= 1
    assert (found.change[made.drifting] < -0.2).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sudden_change_is_found_for_the_worse_and_for_the_better(sign: int) -> None:
    votes = steady(3, low=0.8)
    lost = (votes.worker < 2) & (sign * (votes.time - 0.5) > 0)
    found = look(spoil(votes, lost))
    assert np.flatnonzero(benjamini_hochberg(found.p, 0.05)).tolist() == [0, 1]
    assert (sign * found.change[:2] < -0.3).all()


def test_a_bad_day_in_between_is_found() -> None:
    votes = steady(4, low=0.85, tasks=2000)
    lost = (votes.worker == 7) & (np.abs(votes.time - 0.5) < 0.2)
    assert np.flatnonzero(flagged(spoil(votes, lost))).tolist() == [7]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"classes": 2, "votes_per_task": 5},
        {"tasks": 300, "workers": 100, "votes_per_task": 3},
        {"low": 0.9, "high": 0.999},
        {"low": 0.3, "high": 0.5},
        {"workers": 6, "votes_per_task": 4},
    ],
)
def test_small_p_values_are_as_rare_as_they_should_be(options: dict) -> None:
    p = np.concatenate([look(steady(seed, **options)).p for seed in range(6)])
    p = p[np.isfinite(p)]
    for level in (0.5, 0.1, 0.05, 0.01):
        assert (p <= level).mean() < level + 2.5 * np.sqrt(level * (1 - level) / len(p))


def test_tasks_that_get_harder_for_everyone_flag_nearly_nobody() -> None:
    wrong = 0
    for seed in range(5):
        made = sized_crowd(seed)
        rng = np.random.default_rng(seed)
        hard = rng.random(1000) < np.linspace(0, 0.8, 1000)  # more and more of them
        votes = replace(made.votes, time=made.votes.task + 20 * rng.random(len(made.votes)))
        wrong += flagged(spoil(votes, hard[votes.task] & (rng.random(len(votes)) < 0.6))).sum()
    assert wrong <= 5  # of 250


def test_windows_add_up() -> None:
    votes = steady(0)
    loo = leave_one_out_posteriors(DawidSkene().fit(votes))
    found = detect_drift(loo)
    assert found.votes.shape == found.skill.shape == found.time.shape == (50, 8)
    np.testing.assert_array_equal(found.votes.sum(axis=1), loo.worker_votes)
    assert np.ptp(found.votes, axis=1).max() <= 1
    mean = (found.votes * found.skill).sum(axis=1) / found.votes.sum(axis=1)
    np.testing.assert_allclose(mean, loo.worker_mean(loo.p_correct))
    assert (np.diff(found.time, axis=1) > 0).all()


def test_change_is_the_last_third_less_the_first() -> None:
    votes = steady(1)
    loo = leave_one_out_posteriors(DawidSkene().fit(votes))
    found = detect_drift(loo)
    for worker in range(0, 50, 10):
        mine = np.flatnonzero(votes.worker == worker)
        right = loo.p_correct[mine[np.argsort(votes.time[mine])]]
        position = (np.arange(len(right)) + 0.5) / len(right)
        change = right[position > 2 / 3].mean() - right[position < 1 / 3].mean()
        assert found.change[worker] == pytest.approx(change)


def test_the_clock_does_not_matter() -> None:
    votes = sized_crowd(2, drifting=0.1).votes
    one, other = look(votes), look(replace(votes, time=np.exp(votes.time / 40_000) - 1e9))
    np.testing.assert_allclose(one.p, other.p)


def test_the_order_of_votes_does_not_matter_even_where_times_are_equal() -> None:
    votes = sized_crowd(2, drifting=0.1).votes
    daily = replace(votes, time=np.floor(votes.time / 10_000))
    shuffled = daily.take(np.random.default_rng(0).permutation(len(daily)))
    one, other = look(daily), look(shuffled)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_votes_of_one_moment_do_not_change() -> None:
    votes = spoil(steady(3, low=0.8), np.arange(10_000) > 5000)  # the file is worse in its second half
    found = look(replace(votes, time=np.zeros(len(votes))))
    assert np.nanmin(found.p) > 0.9


def test_votes_without_a_time_are_left_out() -> None:
    votes = sized_crowd(2, drifting=0.1).votes
    some = np.random.default_rng(1).random(len(votes)) < 0.5
    loo = leave_one_out_posteriors(DawidSkene().fit(replace(votes, time=np.where(some, votes.time, np.nan))))
    timed = replace(loo, votes=votes.take(some), posterior=loo.posterior[some])
    for one, other in zip(detect_drift(loo), detect_drift(timed), strict=True):
        np.testing.assert_allclose(one, other)


def test_two_votes_are_too_few_to_change() -> None:
    votes = Votes.of([1, 2, 1, 2, 3], list("xxyyy"), list("abaab"), time=range(5))
    found = detect_drift(
        leave_one_out_posteriors(
            MajorityVoting().fit(replace(votes, workers=np.array(["x", "y", "z"], object)))
        )
    )
    assert np.isnan(found.p[[0, 2]]).all()
    assert np.isfinite(found.p[1])
    assert np.isnan(found.change[2])
    assert found.votes.sum(axis=1).tolist() == [2, 3, 0]


def test_who_never_errs_does_not_change() -> None:
    votes = Votes.of(np.tile(np.arange(50), 3), np.repeat(list("xyz"), 50), ["a", "b"] * 75, time=range(150))
    assert (look(votes).p > 0.5).all()


def test_without_times_nobody_can_be_seen_to_change(simulated) -> None:
    with pytest.raises(ValueError, match="the votes have no time"):
        look(simulated[0])
