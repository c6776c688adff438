"""PAC labels: items that a classifier may label alone, with a bound on the share of wrong labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.hybrid.audit.betting import upper_mean

MAX_THRESHOLDS = 100  # that are tested


class ClassifierLabels(NamedTuple):
    """The items that the classifier may label, as found by `pac_labels`."""

    threshold: float  # items at least this confident are labelled by the classifier; inf if none is
    mask: NDArray[np.bool_]  # which items these are, (items,)
    share: float  # of the items that no expert needs to label
    bound: float  # on the share of all items that are labelled wrong


def pac_labels(
    confidence: ArrayLike,
    items: ArrayLike,
    right: ArrayLike,
    *,
    epsilon: float = 0.05,
    level: float = 0.95,
) -> ClassifierLabels:
    """The largest set of confident items that the classifier may label, experts labelling the others.

    With probability `level`, at most a share `epsilon` of all items then has a wrong label. That holds for
    any classifier, but only if the sample is uniform and its size was fixed in advance. The number of
    errors can only grow as the threshold falls, so that each threshold may be tested at the full level
    until the first that fails (fixed-sequence testing); the bound of each is one by betting.

    Parameters
    ----------
    confidence
        Of the classifier in its label of each item, (items,). Any score will do that is higher where
        it is more often right.
    items
        Indices of the items that experts have labelled: a uniform sample without replacement, in the
        order in which it was drawn, (sampled items,).
    right
        Whether the classifier's label of each of these is right, (sampled items,).
    epsilon
        Share of all items that may be labelled wrong.
    level
        Probability with which this holds.

    References
    ----------
    Candès, Ilyas and Zrnic, Probably approximately correct labels, 2025.
    https://arxiv.org/abs/2506.10908

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1, 4000)
    >>> right = rng.random(4000) < confidence
    >>> sample = rng.permutation(4000)[:400]
    >>> labels = pac_labels(confidence, sample, right[sample], epsilon=0.1)
    >>> bool(labels.share > 0.3), bool((labels.mask & ~right).mean() < 0.1)
    (True, True)
    """
    scores, sample, hit = np.asarray(confidence, np.float64), np.asarray(items), np.asarray(right, bool)
    _check(scores, sample, hit, epsilon, level)
    largest = ClassifierLabels(np.inf, np.zeros(len(scores), bool), 0.0, 0.0)
    quantiles = np.quantile(scores, np.linspace(0, 1, MAX_THRESHOLDS), method="inverted_cdf")
    for threshold in np.unique(quantiles)[::-1]:
        mask = scores >= threshold
        inside = mask[sample]
        wrong = (~hit[inside]).astype(np.float64)
        bound = upper_mean(wrong, int(mask.sum()), level=level) * float(mask.mean())
        if bound > epsilon:
            break
        largest = ClassifierLabels(float(threshold), mask, float(mask.mean()), bound)
    return largest


def _check(
    scores: NDArray[np.float64],
    sample: NDArray[np.int64],
    hit: NDArray[np.bool_],
    epsilon: float,
    level: float,
) -> None:
    if scores.ndim != 1 or not len(scores) or not np.isfinite(scores).all():
        raise ValueError("the confidences are expected as one number for each item, for one item at least")
    if sample.ndim != 1 or sample.shape != hit.shape:
        raise ValueError(f"there are {sample.size} items and {hit.size} answers, expected as many")
    if len(sample) and (sample.dtype.kind not in "iu" or sample.min() < 0 or sample.max() >= len(scores)):
        raise ValueError(f"the sample has something else than indices of the {len(scores)} items")
    if len(np.unique(sample)) < len(sample):
        raise ValueError("an item is in the sample twice; it is expected without replacement")
    for name, value in (("epsilon", epsilon), ("level", level)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
