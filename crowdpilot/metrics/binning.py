"""Tasks by their confidence: in bins of equal width, or of equal weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.metrics.compare import compare_probs

NEAR = 1e-9  # shares of the weight that are so near to each other are the same

Places = NDArray[np.int64]


class Believed(NamedTuple):
    """The label of each task, its most probable class: how sure it is and whether it is right."""

    confidence: Floats  # (tasks,) the highest probability
    right: Floats  # (tasks,) 1 or 0; of equal probabilities the first is the label
    weight: Floats  # (..., tasks)

    @property
    def gap(self) -> Floats:
        """How far the truth lies above the confidence, (tasks,)."""
        return self.right - self.confidence


def believe(truth: ArrayLike, probs: ArrayLike, weight: ArrayLike | None) -> Believed:
    """What probabilities say of the most probable class of each task of known truth."""
    true, p, weights, _ = compare_probs(truth, probs, weight)
    right = p.argmax(axis=1) == true
    return Believed(np.minimum(p.max(axis=1), 1), right.astype(np.float64), weights)


def check_bins(bins: int) -> None:
    """Refuse a number of bins below one."""
    if bins < 1:
        raise ValueError(f"bins is {bins}, expected 1 or more")


def equal_width(values: Floats, bins: int) -> Codes:
    """The bin ((m - 1) / bins, m / bins] of each value; the first one holds 0 as well."""
    check_bins(bins)
    return np.clip(np.ceil(values * bins).astype(np.int32) - 1, 0, bins - 1)


class Ranking(NamedTuple):
    """Tasks in the order of their confidence, ready to be cut into bins of equal weight.

    Tasks of the same confidence are never parted, so that no result depends on their order: all of
    them belong to the bin in which the middle of their weight lies.
    """

    order: Places  # (tasks,) from the least to the most sure
    starts: Places  # (groups + 1,) where each group of equal confidence begins in that order
    weight: Floats  # (rows, tasks) in that order
    middle: Floats  # (rows x groups,) share of the weight below the middle of a group, plus its row

    def running(self, values: Floats) -> Floats:
        """Sums of weights times values, which are in the order, over all tasks before each place."""
        return cumulate(self.weight * values)

    def cut(self, bins: int, rows: Places) -> Places:
        """Places between which the tasks of each bin stand, (rows, bins + 1)."""
        groups = len(self.starts) - 1
        ends = rows[:, None] + (np.arange(1, bins) - NEAR) / bins
        group = np.searchsorted(self.middle, ends) - rows[:, None] * groups
        first, last = np.zeros((len(rows), 1), np.int64), np.full((len(rows), 1), groups)
        cuts: Places = self.starts[np.hstack([first, np.clip(group, 0, groups), last])]
        return cuts


def rank(confidence: Floats, weight: Floats) -> Ranking:
    """Order tasks by their confidence, for every row of weights."""
    order = np.argsort(confidence, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(confidence[order]) > 0, True])
    sorted_weight = weight.reshape(-1, len(order))[:, order]
    below = cumulate(sorted_weight)[:, starts]
    middle = (below[:, 1:] + below[:, :-1]) / 2 / below[:, -1:]
    return Ranking(order, starts, sorted_weight, (middle + np.arange(len(middle))[:, None]).ravel())


def cumulate(values: Floats) -> Floats:
    """Sum of the values before each place, from none to all of them: (..., n) becomes (..., n + 1)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def between(sums: Floats, rows: Places, cuts: Places) -> Any:
    """Sums over each bin of some rows, from sums over all tasks before each place."""
    return np.diff(sums[rows[:, None], cuts], axis=1)
