"""What workers do besides being right or wrong: how fast they are, and which labels they like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from crowdpilot.arrays import Codes, Floats, divide, has_repeats
from crowdpilot.diagnosis.leave_one_out import TINY, Evidence
from crowdpilot.votes import Votes

ENOUGH = 5  # votes below which nobody can be said to give always the same


class Pace(NamedTuple):
    """How fast each worker is."""

    low: Floats  # (workers,); a tenth of the votes is faster; NaN if not known
    median: Floats  # (workers,)
    high: Floats  # (workers,); a tenth is slower
    hasty: Floats  # (workers,); share of the votes that are faster than `limit`
    limit: float  # seconds


def pace(votes: Votes, hurry: float) -> Pace:
    """Seconds of each worker; a vote is hasty below this share of the crowd's median."""
    if votes.seconds is None:
        raise ValueError("the votes have no seconds, without which nobody is fast or slow")
    known = np.flatnonzero(np.isfinite(votes.seconds))
    worker, seconds = votes.worker[known], votes.seconds[known]
    limit = hurry * float(np.median(seconds)) if len(seconds) else float("nan")
    low, median, high = quantiles_by(worker, seconds, len(votes.workers), (0.1, 0.5, 0.9))
    count = np.bincount(worker, minlength=len(votes.workers))
    hasty = np.bincount(worker, seconds < limit, len(votes.workers))
    return Pace(low, median, high, divide(hasty, count), limit)


def quantiles_by(code: Codes, value: Floats, length: int, levels: tuple[float, ...]) -> list[Floats]:
    """Quantiles of the values of each code, (length,) for each level; NaN where there are none.

    Examples
    --------
    >>> quantiles_by(np.array([0, 0, 0, 2]), np.array([1.0, 5.0, 3.0, 7.0]), 3, (0.5,))[0].tolist()
    [3.0, nan, 7.0]
    """
    ordered = np.append(value[np.lexsort((value, code))], np.nan)
    count = np.bincount(code, minlength=length)
    first = np.cumsum(count) - count
    found = []
    for level in levels:
        place = first + level * np.maximum(count - 1, 0)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, first + np.maximum(count - 1, 0))
        between = ordered[below] + (place - below) * (ordered[above] - ordered[below])
        found.append(np.where(count > 0, between, np.nan))
    return found


class LabelUse(NamedTuple):
    """Which label each worker likes best, beyond what the tasks explain."""

    label: Codes  # (workers,); the one used most
    share: Floats  # (workers,); of their votes
    excess: Floats  # (workers,); share less what the other votes on the same tasks explain
    p: Floats  # (workers,); how likely so many are if they explain it; NaN with few votes


def label_use(evidence: Evidence) -> LabelUse:
    """The label that each worker uses most, against what the other votes on their tasks lead to expect."""
    votes, K = evidence.votes, len(evidence.votes.classes)
    count = np.maximum(evidence.worker_votes, 1)
    said = np.bincount(votes.cell, minlength=len(count) * K).reshape(-1, K)
    classes = evidence.counts.sum(axis=2)
    classes /= np.maximum(classes.sum(axis=1, keepdims=True), TINY)
    expected = np.maximum(classes, classes @ evidence.crowd)  # without mistakes, and with the usual ones
    label = said.argmax(axis=1).astype(np.int32)
    most, due = (np.take_along_axis(x, label[:, None], 1)[:, 0] for x in (said, expected))
    p = np.minimum(1.0, K * binom.sf(most - 1, count, np.clip(due, 0, 1)))
    share = np.where(evidence.worker_votes > 0, most / count, np.nan)
    return LabelUse(label, share, share - due, np.where(evidence.worker_votes >= ENOUGH, p, np.nan))


def on_known(votes: Votes, gold: Codes) -> tuple[NDArray[np.int64], Floats]:
    """Votes of each worker on tasks whose class is known, not -1, and the share that is right."""
    asked = gold[votes.task] >= 0
    count = np.bincount(votes.worker[asked], minlength=len(votes.workers))
    right = np.bincount(votes.worker[votes.label == gold[votes.task]], minlength=len(votes.workers))
    return count, divide(right, count)


def peer_agreement(votes: Votes) -> Floats:
    """Share of the votes of others on the same tasks that are like the worker's, (workers,); NaN if none."""
    K, task = len(votes.classes), votes.task.astype(np.int64)
    place, pair = task * K + votes.label, task * len(votes.workers) + votes.worker
    same = np.bincount(place)[place] - _times(pair * K + votes.label)
    others = np.bincount(votes.task)[votes.task] - _times(pair)
    agreed, met = (np.bincount(votes.worker, x, len(votes.workers)) for x in (same, others))
    return divide(agreed, met)


def _times(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often the code of each vote occurs, itself included."""
    if not has_repeats(code):
        return np.ones(len(code), np.int64)
    _, which, count = np.unique(code, return_inverse=True, return_counts=True)
    return count[which]
