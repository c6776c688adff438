"""Confidence bins: tasks by the probability of their label, in bins of equal width or of equal weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.metrics.compare import compare_probs

SHARE_TOLERANCE = 1e-9  # shares of the weight that differ by less are equal

Positions = NDArray[np.int64]


class TopLabels(NamedTuple):
    """The most probable class of each task: its confidence, and whether it is right."""

    confidence: Floats  # (tasks,) the highest probability
    right: Floats  # (tasks,) 1 or 0; of equal probabilities the first is the label
    weight: Floats  # (..., tasks)

    @property
    def gap(self) -> Floats:
        """`right` minus `confidence`, (tasks,)."""
        return self.right - self.confidence


def top_labels(truth: ArrayLike, probs: ArrayLike, weight: ArrayLike | None) -> TopLabels:
    """The most probable class of each task of known truth, from probabilities (tasks, classes)."""
    true, p, weights, _ = compare_probs(truth, probs, weight)
    right = p.argmax(axis=1) == true
    return TopLabels(np.minimum(p.max(axis=1), 1), right.astype(np.float64), weights)


def check_bins(bins: int) -> None:
    """Raise if the number of bins is below one."""
    if bins < 1:
        raise ValueError(f"bins is {bins}, expected 1 or more")


def equal_width(values: Floats, bins: int) -> Codes:
    """The bin ((m - 1) / bins, m / bins] of each value, in their shape; the first holds 0 as well."""
    check_bins(bins)
    return np.clip(np.ceil(values * bins).astype(np.int32) - 1, 0, bins - 1)


class ConfidenceRanking(NamedTuple):
    """Tasks sorted by confidence, to be cut into bins of equal weight.

    Tasks of the same confidence stay together, so that no result depends on their order: all of
    them belong to the bin in which the middle of their weight lies.
    """

    order: Positions  # (tasks,) from the lowest confidence to the highest
    starts: Positions  # (groups + 1,) where each group of equal confidence begins in that order
    weight: Floats  # (rows, tasks) in that order
    middle: Floats  # (rows x groups,) share of the weight below the middle of a group, plus its row

    def cumulative(self, values: Floats) -> Floats:
        """Cumulative sums of weights times sorted values (tasks,), (rows, tasks + 1)."""
        return cumulative_sums(self.weight * values)

    def bin_edges(self, bins: int, rows: Positions) -> Positions:
        """Positions in the order at which bins of equal weight begin and end, (rows, bins + 1)."""
        groups = len(self.starts) - 1
        ends = rows[:, None] + (np.arange(1, bins) - SHARE_TOLERANCE) / bins
        group = np.searchsorted(self.middle, ends) - rows[:, None] * groups
        first, last = np.zeros((len(rows), 1), np.int64), np.full((len(rows), 1), groups)
        edges: Positions = self.starts[np.hstack([first, np.clip(group, 0, groups), last])]
        return edges


def rank_by_confidence(confidence: Floats, weight: Floats) -> ConfidenceRanking:
    """Sort tasks by their confidence, (tasks,), for every row of weights, (..., tasks)."""
    order = np.argsort(confidence, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(confidence[order]) > 0, True])
    sorted_weight = weight.reshape(-1, len(order))[:, order]
    below = cumulative_sums(sorted_weight)[:, starts]
    middle = (below[:, 1:] + below[:, :-1]) / 2 / below[:, -1:]
    return ConfidenceRanking(order, starts, sorted_weight, (middle + np.arange(len(middle))[:, None]).ravel())


def cumulative_sums(values: Floats) -> Floats:
    """Cumulative sums that start at zero: (..., n) becomes (..., n + 1)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.cumsum(values, axis=-1, out=sums[..., 1:])
    return sums


def bin_sums(sums: Floats, rows: Positions, edges: Positions) -> Any:
    """Sums over each bin of some rows, (rows, bins), from cumulative sums."""
    return np.diff(sums[rows[:, None], edges], axis=1)
