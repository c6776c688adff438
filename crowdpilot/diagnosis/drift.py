"""Whose skill changes over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstwobign, norm

from crowdpilot.arrays import Floats, divide
from crowdpilot.diagnosis.false_discoveries import by_p
from crowdpilot.diagnosis.leave_one_out import Evidence

SURE = 0.05  # share of false ones among those who are taken to change
WINDOWS = 8  # of the time of each worker
SEASONS = 20  # of the time of the crowd
MANY = 0.25  # share of the workers who do not change each for themselves
RESERVE = 0.01  # a season that touches few workers, and each little, is not to be told from their own change


class Drift(NamedTuple):
    """How each worker changes."""

    change: Floats  # (workers,); skill in the last third of their votes less that in the first
    p: Floats  # (workers,); how likely so much change is if there is none; NaN if it cannot be told
    time: Floats  # (workers, windows); mean time
    skill: Floats  # (workers, windows); share of the votes that is right by the others
    votes: NDArray[np.int64]  # (workers, windows)


def drift(evidence: Evidence) -> Drift:
    """Skill in windows of time, and a test of whether it changes; needs the time of votes.

    A vote counts as its probability of being right by the other votes of its task, less what is
    to be expected of the worker at that time: tasks may come to be harder for everyone. Two tests
    share the p-value by Cauchy's combination: of a trend, and of any change (the largest cumulated
    sum of deviations, which is a Brownian bridge if there is none).

    References
    ----------
    Ploberger and Krämer, Econometrica 60(2), 1992. Liu and Xie, Journal of the American Statistical
    Association 115, 2020.
    """
    if evidence.votes.time is None:
        raise ValueError("the votes have no time, without which nobody can be seen to change")
    course = _order(evidence, evidence.votes.time)
    moved = _mean(course, course.place > 2 / 3) - _mean(course, course.place < 1 / 3)
    return Drift(moved, _test(course, len(evidence.votes.classes)), *_windows(course))


class Course(NamedTuple):
    """The votes whose time is known, worker by worker, in the order of time."""

    worker: NDArray[np.int32]  # (votes,)
    time: Floats  # (votes,)
    right: Floats  # (votes,); probability of being right by the others
    moment: NDArray[np.int64]  # (votes,); the same for votes of a worker at one time
    place: Floats  # (votes,); 0 to 1 in the worker's time
    total: NDArray[np.int64]  # (workers,)


def _order(evidence: Evidence, time: Floats) -> Course:
    known = np.flatnonzero(np.isfinite(time))
    order = known[np.lexsort((time[known], evidence.votes.worker[known]))]
    worker, when = evidence.votes.worker[order], time[order]
    count = np.bincount(worker, minlength=len(evidence.votes.workers))
    moment = _moments(worker, when)
    rank = np.arange(len(worker)) - (np.cumsum(count) - count)[worker] + 0.5
    return Course(worker, when, evidence.right[order], moment, _even(rank, moment) / count[worker], count)


def _test(course: Course, classes: int) -> Floats:
    """p-value of no change for each worker, (workers,)."""
    worker, right, count = course.worker, course.right, course.total
    skill = np.bincount(worker, right, len(count)) / np.maximum(count, 1)
    touched = np.maximum(skill - 1 / classes, 0) * (1 - skill)  # neither the best nor those who guess
    season, effect = _seasons(course.time), np.zeros(len(right))
    for _ in range(2):  # those who change are no measure of the time, unless they are many
        gap = _deviations(right - skill[worker] - effect, worker, count)
        p = _combine(_trend_p(gap, course), _change_p(_even(gap, course.moment), course))
        changed = by_p(p, SURE)
        steady = ~changed[worker] | (changed.mean() > MANY)
        effect = _effect(right - skill[worker], touched[worker], season, steady)
    return p


def _windows(course: Course) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean time, share that is right, and number of votes, (workers, windows) each."""
    shape = len(course.total), WINDOWS
    cell = course.worker * WINDOWS + (course.place * WINDOWS).astype(np.int64)
    seen = np.bincount(cell, minlength=shape[0] * WINDOWS)
    sums = (np.bincount(cell, values, len(seen)) for values in (course.time, course.right))
    time, skill = (divide(total, seen).reshape(shape) for total in sums)
    return time, skill, seen.reshape(shape)


def _seasons(time: Floats) -> NDArray[np.int64]:
    """The season of each vote, (votes,): as many votes in each, but those of one moment together."""
    return np.searchsorted(np.sort(time), time) * SEASONS // max(len(time), 1)


def _moments(worker: NDArray[np.int32], time: Floats) -> NDArray[np.int64]:
    """The moment of each vote, (votes,), which ordered votes of a worker with equal times share."""
    new = (np.diff(worker, prepend=-1) != 0) | (np.diff(time, prepend=0.0) != 0)
    return np.cumsum(new) - 1


def _even(value: Floats, moment: NDArray[np.int64]) -> Floats:
    """Each value replaced by the mean of its moment: votes of one moment have no order."""
    mean: Floats = np.bincount(moment, value) / np.maximum(np.bincount(moment), 1)
    return mean[moment]


def _effect(gap: Floats, touched: Floats, season: NDArray[np.int64], some: NDArray[np.bool_]) -> Floats:
    """What the season does to each vote, (votes,), in proportion to how far it touches its worker."""
    total = np.bincount(season[some], gap[some], SEASONS)
    weight = np.bincount(season[some], touched[some] + RESERVE, SEASONS)
    effect: Floats = (total / np.maximum(weight, RESERVE))[season] * touched
    return effect


def _deviations(value: Floats, worker: NDArray[np.int32], count: NDArray[np.int64]) -> Floats:
    """Each value less the mean of its worker, in units of the worker's spread.

    A spread below that of half a mistake in all votes is none: the rest is doubt about the class.
    """
    centred = value - (np.bincount(worker, value, len(count)) / np.maximum(count, 1))[worker]
    spread = np.sqrt(np.maximum(np.bincount(worker, centred**2, len(count)), 0.25) / np.maximum(count, 1))
    scaled: Floats = centred / spread[worker]
    return scaled


def _trend_p(gap: Floats, course: Course) -> Floats:
    count = course.total
    slope = np.bincount(course.worker, gap * (course.place - 0.5), len(count))
    known = count > 2
    z = np.where(known, slope / np.sqrt(np.where(known, (count - 1 / np.maximum(count, 1)) / 12, 1)), np.nan)
    p: Floats = 2 * norm.sf(np.abs(z))
    return p


def _change_p(gap: Floats, course: Course) -> Floats:
    count, walk = course.total, np.cumsum(gap)
    walk -= np.append(0.0, walk)[np.cumsum(count) - count][course.worker]
    far = np.zeros(len(count))
    np.maximum.at(far, course.worker, np.abs(walk))
    p: Floats = kstwobign.sf(far / np.sqrt(np.maximum(count, 1)))
    return p


def _combine(p: Floats, q: Floats) -> Floats:
    """One p-value of two, whatever their dependence, for small ones."""
    mean = (np.tan((0.5 - p) * np.pi) + np.tan((0.5 - q) * np.pi)) / 2
    combined: Floats = 0.5 - np.arctan(mean) / np.pi
    return combined


def _mean(course: Course, some: NDArray[np.bool_]) -> Floats:
    """Share of some votes of each worker that is right; NaN where there are none."""
    worker, workers = course.worker[some], len(course.total)
    total, count = np.bincount(worker, course.right[some], workers), np.bincount(worker, minlength=workers)
    return divide(total, count)
