"""Metrics of labels: accuracy, balanced accuracy, macro F1, precision and recall of each class.

Every function takes a `weight` for each task; with several rows of weights, (samples, tasks), it
gives as many values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, Names
from crowdpilot.metrics.compare import average, compare_labels, plain, spread


class PerClass(NamedTuple):
    """One row for each class that occurs in the truth or among the labels."""

    classes: Names
    precision: Floats  # of the tasks so labelled, the share that are of this class
    recall: Floats  # of the tasks of this class, the share so labelled
    f1: Floats  # harmonic mean of both
    support: Floats  # weight of the tasks of this class


def accuracy(truth: ArrayLike, labels: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Accuracy: share of the tasks whose label is right.

    Examples
    --------
    >>> accuracy(["cat", "dog", None, "dog"], ["cat", "dog", "dog", "cat"])
    0.6666666666666666
    """
    true, said, weights, _ = compare_labels(truth, labels, weight)
    return average(true == said, weights)


def balanced_accuracy(truth: ArrayLike, labels: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Balanced accuracy: mean recall of the classes that occur in the truth.

    Examples
    --------
    >>> balanced_accuracy(["cat", "cat", "cat", "dog"], ["cat", "cat", "cat", "cat"])
    0.5
    """
    count = _count_classes(truth, labels, weight)
    return plain(_ratio(count.right, count.true).sum(axis=-1) / (count.true > 0).sum(axis=-1))


def macro_f1(truth: ArrayLike, labels: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Macro F1: mean F1 of the classes that occur in the truth or among the labels.

    A class that is never correctly predicted has an F1 of zero, also if only the labels have it, as in
    `sklearn.metrics.f1_score(average="macro")`. Tasks of weight zero do not occur.

    Examples
    --------
    >>> round(macro_f1(["cat", "cat", "cat", "dog"], ["cat", "cat", "cat", "cat"]), 3)
    0.429
    """
    count = _count_classes(truth, labels, weight)
    both = count.true + count.said
    return plain(_ratio(2 * count.right, both).sum(axis=-1) / (both > 0).sum(axis=-1))


def per_class(truth: ArrayLike, labels: ArrayLike, *, weight: ArrayLike | None = None) -> PerClass:
    """Precision, recall, F1 and support of every class; what cannot be computed is zero.

    Examples
    --------
    >>> per_class(["cat", "cat", "dog"], ["cat", "dog", "dog"]).recall.tolist()
    [0.5, 1.0]
    """
    classes, true, said, right = _count_classes(truth, labels, weight)
    f1 = _ratio(2 * right, true + said)
    return PerClass(classes, _ratio(right, said), _ratio(right, true), f1, true)


class _ClassCounts(NamedTuple):
    """Weight of the tasks of each class, (..., classes): by the truth, by the label, and by both."""

    classes: Names
    true: Floats
    said: Floats
    right: Floats


def _count_classes(truth: ArrayLike, labels: ArrayLike, weight: ArrayLike | None) -> _ClassCounts:
    true, said, weights, classes = compare_labels(truth, labels, weight)
    one, right, K = np.ones(len(true)), (true == said).astype(np.float64), len(classes)
    columns = spread(one, true, K), spread(one, said, K), spread(right, true, K)
    return _ClassCounts(classes, *(weights @ column for column in columns))


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.zeros(whole.shape), where=whole > 0)
    return ratio
