"""Response times, label use, accuracy on gold tasks and peer agreement of each worker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from crowdpilot.aggregation.workers.confusion import MIN_PROBABILITY
from crowdpilot.arrays import Codes, Floats, divide, has_repeats
from crowdpilot.diagnosis.leave_one_out import LeaveOneOut
from crowdpilot.votes import Votes

MIN_VOTES_FOR_LABEL_USE = 5  # of a worker, below which label use is not tested


class ResponseTimes(NamedTuple):
    """Seconds per vote of each worker; NaN where no time is known."""

    p10: Floats  # (workers,); 10 % quantile
    median: Floats  # (workers,)
    p90: Floats  # (workers,); 90 % quantile
    fast_share: Floats  # (workers,); share of the votes that took less than `fast_limit`
    fast_limit: float  # seconds


def response_times(votes: Votes, fast_ratio: float) -> ResponseTimes:
    """Quantiles of the seconds per vote of each worker, and the share of fast votes.

    Parameters
    ----------
    votes
        With seconds.
    fast_ratio
        A vote is fast if it took less than this share of the median over all votes.
    """
    if votes.seconds is None:
        raise ValueError("the votes have no seconds, so response times are not known")
    known = np.flatnonzero(np.isfinite(votes.seconds))
    worker, seconds = votes.worker[known], votes.seconds[known]
    limit = fast_ratio * float(np.median(seconds)) if len(seconds) else float("nan")
    p10, median, p90 = quantiles_by(worker, seconds, len(votes.workers), (0.1, 0.5, 0.9))
    count = np.bincount(worker, minlength=len(votes.workers))
    fast = np.bincount(worker, seconds < limit, len(votes.workers))
    return ResponseTimes(p10, median, p90, divide(fast, count), limit)


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
    quantiles = []
    for level in levels:
        position = first + level * np.maximum(count - 1, 0)
        below = np.floor(position).astype(np.int64)
        above = np.minimum(below + 1, first + np.maximum(count - 1, 0))
        between = ordered[below] + (position - below) * (ordered[above] - ordered[below])
        quantiles.append(np.where(count > 0, between, np.nan))
    return quantiles


class LabelUse(NamedTuple):
    """The label that each worker uses most, against the share that the tasks explain."""

    label: Codes  # (workers,); the one used most
    share: Floats  # (workers,); of their votes
    excess: Floats  # (workers,); share minus the expected share
    p: Floats  # (workers,); p-value of the binomial test, Bonferroni-corrected; NaN with few votes


def label_use(loo: LeaveOneOut) -> LabelUse:
    """Test whether each worker uses one label more often than the classes of their tasks explain.

    The expected share of a label is that of its class among the worker's tasks, by the
    leave-one-out posteriors, or that with the mistakes of the crowd if it is larger.
    """
    votes, K = loo.votes, len(loo.votes.classes)
    count = np.maximum(loo.worker_votes, 1)
    label_counts = np.bincount(votes.cell, minlength=len(count) * K).reshape(-1, K)
    classes = loo.counts.sum(axis=2)
    classes /= np.maximum(classes.sum(axis=1, keepdims=True), MIN_PROBABILITY)
    expected = np.maximum(classes, classes @ loo.crowd_confusion)  # without mistakes, and with the crowd's
    label = label_counts.argmax(axis=1).astype(np.int32)
    top, top_expected = (np.take_along_axis(x, label[:, None], 1)[:, 0] for x in (label_counts, expected))
    p = np.minimum(1.0, K * binom.sf(top - 1, count, np.clip(top_expected, 0, 1)))
    share = np.where(loo.worker_votes > 0, top / count, np.nan)
    enough = loo.worker_votes >= MIN_VOTES_FOR_LABEL_USE
    return LabelUse(label, share, share - top_expected, np.where(enough, p, np.nan))


def gold_accuracy(votes: Votes, gold: Codes) -> tuple[NDArray[np.int64], Floats]:
    """Number of votes on gold tasks and accuracy there, (workers,) each; NaN without such votes.

    Parameters
    ----------
    votes
        Any votes.
    gold
        (tasks,); code of the known class, -1 where it is unknown.
    """
    on_gold = gold[votes.task] >= 0
    count = np.bincount(votes.worker[on_gold], minlength=len(votes.workers))
    right = np.bincount(votes.worker[votes.label == gold[votes.task]], minlength=len(votes.workers))
    return count, divide(right, count)


def peer_agreement(votes: Votes) -> Floats:
    """Share of the votes of others on the same tasks that equal the worker's, (workers,); NaN if none."""
    K, task = len(votes.classes), votes.task.astype(np.int64)
    cell, pair = task * K + votes.label, task * len(votes.workers) + votes.worker
    same = np.bincount(cell)[cell] - _occurrences(pair * K + votes.label)
    others = np.bincount(votes.task)[votes.task] - _occurrences(pair)
    agreed, compared = (np.bincount(votes.worker, x, len(votes.workers)) for x in (same, others))
    return divide(agreed, compared)


def _occurrences(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often the code of each vote occurs, itself included, (votes,)."""
    if not has_repeats(code):
        return np.ones(len(code), np.int64)
    _, which, count = np.unique(code, return_inverse=True, return_counts=True)
    return count[which]
