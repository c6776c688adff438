"""Class imbalance of votes (imbalance ratio, majority classes), and precision and recall of pseudo-votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, divide, sum_by
from crowdpilot.votes import Votes


def class_counts(votes: Votes) -> Floats:
    """The total weight of the votes for each class, (classes,)."""
    return sum_by(votes.label, votes.weights, len(votes.classes))


def imbalance_ratio(counts: Floats) -> float:
    """The imbalance ratio R: the size of the largest class over that of the smallest.

    One if all classes are alike, infinite if one is empty, NaN if all are.

    References
    ----------
    Shi, Li and Huang, Learning from crowds with sparse and imbalanced annotations, Machine Learning
    112, 2023, Eq. 1. https://doi.org/10.1007/s10994-022-06185-w

    Examples
    --------
    >>> imbalance_ratio(np.array([30.0, 20.0, 10.0]))
    3.0
    """
    if counts.sum() == 0:
        return float("nan")
    return float(divide(counts.max(), counts.min(), np.inf))


def majority_classes(counts: Floats) -> NDArray[np.bool_]:
    """Whether each class is in the half with the most votes, (classes,).

    Of an odd number of classes, the middle one is not; of equal classes, the first ones are.
    """
    large = np.zeros(len(counts), bool)
    large[np.argsort(-counts, kind="stable")[: len(counts) // 2]] = True
    return large


class PseudoVoteQuality(NamedTuple):
    """Quality of pseudo-votes by the true classes of their tasks; NaN where it is undefined."""

    precision: float  # of votes for a majority class: share on tasks of that class; mean over classes
    recall: float  # of votes on tasks of a minority class: share for that class; mean over classes


def pseudo_vote_quality(votes: Votes, truth: Codes, large: NDArray[np.bool_]) -> PseudoVoteQuality:
    """Precision on majority classes and recall on minority classes of pseudo-votes.

    Parameters
    ----------
    votes
        The pseudo-votes.
    truth
        The code of the true class of each task, (tasks,), -1 where it is unknown: those are left out.
    large
        Whether each class is a majority class, (classes,).
    """
    K = len(votes.classes)
    known = truth[votes.task] >= 0
    cell = truth[votes.task][known].astype(np.int64) * K + votes.label[known]
    confusion = sum_by(cell, votes.weights[known], K * K).reshape(K, K)  # [true, said]
    right = np.diag(confusion)
    precision, recall = divide(right, confusion.sum(axis=0)), divide(right, confusion.sum(axis=1))
    return PseudoVoteQuality(_mean(precision[large]), _mean(recall[~large]))


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")
