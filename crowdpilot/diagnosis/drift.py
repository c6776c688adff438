"""Drift: tests of whether the skill of a worker changes over time (trend and CUSUM)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstwobign, norm

from crowdpilot.arrays import Floats, divide
from crowdpilot.diagnosis.false_discovery_rate import benjamini_hochberg
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut

STEADY_FALSE_DISCOVERY_RATE = 0.05  # of the workers who are left out when effects of time are estimated
WINDOWS_PER_WORKER = 8  # of equal numbers of votes
PERIODS = 20  # of the whole time, with equal numbers of votes
MAX_SHARE_CHANGING = 0.25  # of the workers; if more change, all are used to estimate effects of time
PERIOD_REGULARIZATION = 0.01  # shrinks the effect of a period that affects few workers, and each little


class Drift(NamedTuple):
    """How the skill of each worker changes over time."""

    change: Floats  # (workers,); skill in the last third of their votes minus that in the first
    p: Floats  # (workers,); p-value of no change; NaN if there are too few votes
    time: Floats  # (workers, windows); mean time
    skill: Floats  # (workers, windows); mean leave-one-out probability of being right
    votes: NDArray[np.int64]  # (workers, windows)


def detect_drift(loo: LeaveOneOut) -> Drift:
    """Skill in windows of time, and a test of whether it changes; needs the time of votes.

    Each vote counts as its leave-one-out probability of being right, minus what is expected of the
    worker in that period: tasks may become harder for everyone. The p-value is Cauchy's combination
    of two tests: of a linear trend, and of any change (CUSUM: the largest cumulative sum of
    deviations, which follow a Brownian bridge if there is no change).

    Parameters
    ----------
    loo
        Leave-one-out posteriors of votes that have a time.

    References
    ----------
    Ploberger and Krämer, Econometrica 60(2), 1992. Liu and Xie, Journal of the American Statistical
    Association 115, 2020.
    """
    if loo.votes.time is None:
        raise ValueError("the votes have no time, so a change of skill cannot be detected")
    ordered = _order(loo, loo.votes.time)
    change = _mean_right(ordered, ordered.position > 2 / 3) - _mean_right(ordered, ordered.position < 1 / 3)
    return Drift(change, _p_values(ordered, len(loo.votes.classes)), *_windows(ordered))


class OrderedVotes(NamedTuple):
    """The votes whose time is known, sorted by worker and then by time."""

    worker: NDArray[np.int32]  # (votes,)
    time: Floats  # (votes,)
    right: Floats  # (votes,); leave-one-out probability of being right
    moment: NDArray[np.int64]  # (votes,); the same for votes of a worker at the same time
    position: Floats  # (votes,); 0 to 1 among the votes of the worker
    worker_votes: NDArray[np.int64]  # (workers,)


def _order(loo: LeaveOneOut, time: Floats) -> OrderedVotes:
    known = np.flatnonzero(np.isfinite(time))
    order = known[np.lexsort((time[known], loo.votes.worker[known]))]
    worker, when = loo.votes.worker[order], time[order]
    count = np.bincount(worker, minlength=len(loo.votes.workers))
    moment = _moments(worker, when)
    rank = np.arange(len(worker)) - (np.cumsum(count) - count)[worker] + 0.5
    position = _mean_by_moment(rank, moment) / count[worker]
    return OrderedVotes(worker, when, loo.p_correct[order], moment, position, count)


def _p_values(votes: OrderedVotes, classes: int) -> Floats:
    """p-value of no change for each worker, (workers,)."""
    worker, right, count = votes.worker, votes.right, votes.worker_votes
    skill = np.bincount(worker, right, len(count)) / np.maximum(count, 1)
    sensitivity = np.maximum(skill - 1 / classes, 0) * (1 - skill)  # zero for the best and for guessers
    period, effect = _periods(votes.time), np.zeros(len(right))
    for _ in range(2):  # workers who change do not count for the effect of time, unless they are many
        deviation = _standardize(right - skill[worker] - effect, worker, count)
        p = _combine(_trend_p(deviation, votes), _cusum_p(_mean_by_moment(deviation, votes.moment), votes))
        changing = benjamini_hochberg(p, STEADY_FALSE_DISCOVERY_RATE)
        steady = ~changing[worker] | (changing.mean() > MAX_SHARE_CHANGING)
        effect = _period_effect(right - skill[worker], sensitivity[worker], period, steady)
    return p


def _windows(votes: OrderedVotes) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean time, share that is right, and number of votes, (workers, windows) each."""
    shape = len(votes.worker_votes), WINDOWS_PER_WORKER
    cell = votes.worker * WINDOWS_PER_WORKER + (votes.position * WINDOWS_PER_WORKER).astype(np.int64)
    count = np.bincount(cell, minlength=shape[0] * WINDOWS_PER_WORKER)
    sums = (np.bincount(cell, values, len(count)) for values in (votes.time, votes.right))
    time, skill = (divide(total, count).reshape(shape) for total in sums)
    return time, skill, count.reshape(shape)


def _periods(time: Floats) -> NDArray[np.int64]:
    """The period of each vote, (votes,): equally many votes in each, but those of one time together."""
    return np.searchsorted(np.sort(time), time) * PERIODS // max(len(time), 1)


def _moments(worker: NDArray[np.int32], time: Floats) -> NDArray[np.int64]:
    """A number for each vote, (votes,), that sorted votes of a worker at the same time share."""
    new = (np.diff(worker, prepend=-1) != 0) | (np.diff(time, prepend=0.0) != 0)
    return np.cumsum(new) - 1


def _mean_by_moment(value: Floats, moment: NDArray[np.int64]) -> Floats:
    """Each value replaced by the mean of its moment, (votes,): votes of one moment have no order."""
    mean: Floats = np.bincount(moment, value) / np.maximum(np.bincount(moment), 1)
    return mean[moment]


def _period_effect(
    deviation: Floats, sensitivity: Floats, period: NDArray[np.int64], steady: NDArray[np.bool_]
) -> Floats:
    """The effect of the period on each vote, (votes,), in proportion to the sensitivity of its worker."""
    total = np.bincount(period[steady], deviation[steady], PERIODS)
    weight = np.bincount(period[steady], sensitivity[steady] + PERIOD_REGULARIZATION, PERIODS)
    effect: Floats = (total / np.maximum(weight, PERIOD_REGULARIZATION))[period] * sensitivity
    return effect


def _standardize(value: Floats, worker: NDArray[np.int32], count: NDArray[np.int64]) -> Floats:
    """Each value minus the mean of its worker, divided by the worker's standard deviation, (votes,).

    The variance is at least that of half a mistake in all votes: less is uncertainty about the class.
    """
    centred = value - (np.bincount(worker, value, len(count)) / np.maximum(count, 1))[worker]
    square_sum = np.maximum(np.bincount(worker, centred**2, len(count)), 0.25)
    deviation = np.sqrt(square_sum / np.maximum(count, 1))
    scaled: Floats = centred / deviation[worker]
    return scaled


def _trend_p(deviation: Floats, votes: OrderedVotes) -> Floats:
    """Two-sided p-value of a linear trend, (workers,)."""
    count = votes.worker_votes
    slope = np.bincount(votes.worker, deviation * (votes.position - 0.5), len(count))
    known = count > 2
    z = np.where(known, slope / np.sqrt(np.where(known, (count - 1 / np.maximum(count, 1)) / 12, 1)), np.nan)
    p: Floats = 2 * norm.sf(np.abs(z))
    return p


def _cusum_p(deviation: Floats, votes: OrderedVotes) -> Floats:
    """p-value of the largest cumulative sum, by the Kolmogorov distribution, (workers,)."""
    count, cumulative = votes.worker_votes, np.cumsum(deviation)
    cumulative -= np.append(0.0, cumulative)[np.cumsum(count) - count][votes.worker]
    largest = np.zeros(len(count))
    np.maximum.at(largest, votes.worker, np.abs(cumulative))
    p: Floats = kstwobign.sf(largest / np.sqrt(np.maximum(count, 1)))
    return p


def _combine(p: Floats, q: Floats) -> Floats:
    """Cauchy combination of two p-values, valid for small ones whatever their dependence."""
    mean = (np.tan((0.5 - p) * np.pi) + np.tan((0.5 - q) * np.pi)) / 2
    combined: Floats = 0.5 - np.arctan(mean) / np.pi
    return combined


def _mean_right(votes: OrderedVotes, rows: NDArray[np.bool_]) -> Floats:
    """Share of some votes of each worker that is right, (workers,); NaN where there are none."""
    worker, workers = votes.worker[rows], len(votes.worker_votes)
    total, count = np.bincount(worker, votes.right[rows], workers), np.bincount(worker, minlength=workers)
    return divide(total, count)
