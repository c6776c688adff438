"""Calibration to human disagreement: distances between predictions and soft labels (DistCE, EntCE, RankCS).

Instead of a true class, a task has the shares of people who chose each class, (tasks, classes). Every
function takes a `weight` for each task; with several rows of weights, (samples, tasks), it gives as
many values.

References
----------
Baan et al., Stop measuring calibration when humans disagree, EMNLP 2022.
https://arxiv.org/abs/2210.16133
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from crowdpilot.metrics.compare import average, compare_soft_labels


def dist_ce(human: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Mean total variation distance between people and predictions, from 0 to 1 (DistCE).

    mean over tasks of sum_k |human[k] - probs[k]| / 2: the share of people who would have to choose
    another class.

    Examples
    --------
    >>> round(dist_ce([[0.5, 0.5], [1, 0]], [[0.9, 0.1], [0.9, 0.1]]), 3)
    0.25
    """
    h, p, weights = compare_soft_labels(human, probs, weight)
    return average(np.abs(h - p).sum(axis=1) / 2, weights)


def entropy_ce(
    human: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None, absolute: bool = False
) -> float:
    """Mean of the entropy of the prediction minus that of people, in nats (EntCE).

    Below zero the predictions are more certain than the people, above zero less certain.

    Parameters
    ----------
    human, probs, weight
        As in `dist_ce`.
    absolute
        Take the mean of the absolute differences, which cannot cancel out.

    Examples
    --------
    >>> round(entropy_ce([[0.5, 0.5], [1, 0]], [[1, 0], [0.5, 0.5]]), 3)
    0.0
    >>> round(entropy_ce([[0.5, 0.5], [1, 0]], [[1, 0], [0.5, 0.5]], absolute=True), 3)
    0.693
    """
    h, p, weights = compare_soft_labels(human, probs, weight)
    gap = entr(p).sum(axis=1) - entr(h).sum(axis=1)
    return average(np.abs(gap) if absolute else gap, weights)


def rank_cs(human: ArrayLike, probs: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Share of the tasks whose classes are ranked by the prediction as by people (RankCS).

    Classes that equally many people chose may be ranked either way. Where people prefer one, the
    prediction must as well: equal probabilities do not count.

    Examples
    --------
    >>> rank_cs([[0.5, 0.5, 0], [0.7, 0.2, 0.1]], [[0.6, 0.3, 0.1], [0.7, 0.1, 0.2]])
    0.5
    """
    h, p, weights = compare_soft_labels(human, probs, weight)
    order = np.lexsort((-p, -h), axis=-1)  # by people; among their equals by the prediction
    h, p = (np.take_along_axis(values, order, axis=1) for values in (h, p))
    falls = np.diff(h, axis=1) < 0
    return average((~falls | (np.diff(p, axis=1) < 0)).all(axis=1), weights)
