"""How unequal classes are, and how good the votes are that a model made up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, divide, sum_by
from crowdpilot.votes import Votes


def count(votes: Votes) -> Floats:
    """How many votes each class has, (classes,); votes count by their weight."""
    return sum_by(votes.label, votes.weights, len(votes.classes))


def ratio(counts: Floats) -> float:
    """The imbalance ratio R: the size of the largest class over that of the smallest.

    One if all classes are alike, infinite if one is empty, NaN if all are.

    References
    ----------
    Shi, Li and Huang, Learning from crowds with sparse and imbalanced annotations, Machine Learning
    112, 2023, Eq. 1. https://doi.org/10.1007/s10994-022-06185-w

    Examples
    --------
    >>> ratio(np.array([30.0, 20.0, 10.0]))
    3.0
    """
    if counts.sum() == 0:
        return float("nan")
    return float(divide(counts.max(), counts.min(), np.inf))


def majority(counts: Floats) -> NDArray[np.bool_]:
    """Which classes are the half with the most votes, (classes,).

    Of an odd number of classes, the middle one is not; of equal classes, the first ones are.
    """
    large = np.zeros(len(counts), bool)
    large[np.argsort(-counts, kind="stable")[: len(counts) // 2]] = True
    return large


class Quality(NamedTuple):
    """How good made-up votes are, by the true classes of their tasks; NaN where nothing can be said."""

    precision: float  # of votes for a majority class, those about tasks of that class; mean of the classes
    recall: float  # of votes about tasks of a minority class, those that say so; mean of the classes


def quality(votes: Votes, truth: Codes, large: NDArray[np.bool_]) -> Quality:
    """How good these votes are.

    Parameters
    ----------
    votes
        What is judged.
    truth
        The code of the true class of each task, -1 where it is not known: votes about it are left out.
    large
        Which classes are the majority.
    """
    K = len(votes.classes)
    known = truth[votes.task] >= 0
    cell = truth[votes.task][known].astype(np.int64) * K + votes.label[known]
    met = sum_by(cell, votes.weights[known], K * K).reshape(K, K)  # [true, said]
    right = np.diag(met)
    precision, recall = divide(right, met.sum(axis=0)), divide(right, met.sum(axis=1))
    return Quality(_mean(precision[large]), _mean(recall[~large]))


def _mean(values: Floats) -> float:
    seen = values[~np.isnan(values)]
    return float(seen.mean()) if len(seen) else float("nan")
