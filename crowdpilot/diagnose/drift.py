"""Whose skill changes over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kstwobign, norm

from crowdpilot.arrays import Floats
from crowdpilot.diagnose.discoveries import by_p
from crowdpilot.diagnose.evidence import Evidence

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
    to be expected of the worker at that time: tasks may come to be harder for everyone. Two tests share the
    p-value by Cauchy's combination: of a trend, and of any change (the largest cumulated sum of
    deviations, which is a Brownian bridge if there is none).

    References
    ----------
    Ploberger and Krämer, Econometrica 60(2), 1992. Liu and Xie, Journal of the American Statistical
    Association 115, 2020.
    """
    votes = evidence.votes
    if votes.time is None:
        raise ValueError("the votes have no time, without which nobody can be seen to change")
    known = np.flatnonzero(np.isfinite(votes.time))
    order = known[np.lexsort((votes.time[known], votes.worker[known]))]
    worker, when, right = votes.worker[order], votes.time[order], evidence.right[order]
    count, season = np.bincount(worker, minlength=len(votes.workers)), _seasons(when)
    first, moment = np.cumsum(count) - count, _moments(worker, when)
    rank = _even(np.arange(len(worker)) - first[worker] + 0.5, moment)
    place = rank / count[worker]  # 0 to 1 in the worker's time
    skill = np.bincount(worker, right, len(count)) / np.maximum(count, 1)
    touched = np.maximum(skill - 1 / len(votes.classes), 0) * (1 - skill)  # neither the best nor who guesses
    effect = np.zeros(len(right))
    for _ in range(2):  # those who change are no measure of the time, unless they are many
        gap = _deviations(right - skill[worker] - effect, worker, count)
        walked = _change_p(_even(gap, moment), worker, count, first)
        p = _combine(_trend_p(gap, place, worker, count), walked)
        changed = by_p(p, SURE)
        steady = ~changed[worker] | (changed.mean() > MANY)
        effect = _effect(right - skill[worker], touched[worker], season, steady)
    moved = _mean(right, worker, place > 2 / 3, len(count)) - _mean(right, worker, place < 1 / 3, len(count))
    window = (place * WINDOWS).astype(np.int64)
    cell, shape = worker * WINDOWS + window, (len(count), WINDOWS)
    seen = np.bincount(cell, minlength=len(count) * WINDOWS)
    sums = [np.bincount(cell, x, len(seen)) for x in (when, right)]
    time, skill = (np.where(seen > 0, s / np.maximum(seen, 1), np.nan).reshape(shape) for s in sums)
    return Drift(moved, p, time, skill, seen.reshape(shape))


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


def _trend_p(gap: Floats, place: Floats, worker: NDArray[np.int32], count: NDArray[np.int64]) -> Floats:
    slope = np.bincount(worker, gap * (place - 0.5), len(count))
    known = count > 2
    z = np.where(known, slope / np.sqrt(np.where(known, (count - 1 / np.maximum(count, 1)) / 12, 1)), np.nan)
    p: Floats = 2 * norm.sf(np.abs(z))
    return p


def _change_p(
    gap: Floats, worker: NDArray[np.int32], count: NDArray[np.int64], first: NDArray[np.int64]
) -> Floats:
    walk = np.cumsum(gap)
    walk -= np.append(0.0, walk)[first][worker]
    far = np.zeros(len(count))
    np.maximum.at(far, worker, np.abs(walk))
    p: Floats = kstwobign.sf(far / np.sqrt(np.maximum(count, 1)))
    return p


def _combine(p: Floats, q: Floats) -> Floats:
    """One p-value of two, whatever their dependence, for small ones."""
    mean = (np.tan((0.5 - p) * np.pi) + np.tan((0.5 - q) * np.pi)) / 2
    combined: Floats = 0.5 - np.arctan(mean) / np.pi
    return combined


def _mean(value: Floats, worker: NDArray[np.int32], some: NDArray[np.bool_], workers: int) -> Floats:
    total, count = (
        np.bincount(worker[some], value[some], workers),
        np.bincount(worker[some], minlength=workers),
    )
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
