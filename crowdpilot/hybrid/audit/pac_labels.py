"""Which items the machine may label by itself, with a proof that few of its labels are wrong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crowdpilot.hybrid.audit.betting import upper_mean

STEPS = 100  # thresholds that are tried


class MachineLabels(NamedTuple):
    """What `pac_labels` has found."""

    threshold: float  # items at least this confident are labelled by the machine; inf if none is
    mask: NDArray[np.bool_]  # which items these are
    share: float  # of the items that no expert needs to label
    bound: float  # on the share of all items that are labelled wrong


def pac_labels(
    confidence: ArrayLike,
    items: ArrayLike,
    right: ArrayLike,
    *,
    epsilon: float = 0.05,
    alpha: float = 0.05,
) -> MachineLabels:
    """The largest set of confident items that the machine may label, experts labelling the others.

    With probability `1 - alpha`, at most a share `epsilon` of all items then has a wrong label. That
    holds for any machine, but only if the sample is uniform and its size was decided beforehand.
    Errors can only become more as the threshold falls, so that each threshold may be tested at
    `alpha` until the first that fails (Candès, Ilyas and Zrnic); the bound of each is one by betting.

    Parameters
    ----------
    confidence
        Of the machine in its label of each item, (items,). Any score will do that is higher where
        it is more often right.
    items
        Places of the items that experts have labelled: a uniform sample without replacement, in the
        order in which it was drawn.
    right
        Whether the machine's label of each of these is right.
    epsilon
        Share of all items that may be labelled wrong.
    alpha
        How often this may fail.

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
    >>> found = pac_labels(confidence, sample, right[sample], epsilon=0.1)
    >>> bool(found.share > 0.3), bool((found.mask & ~right).mean() < 0.1)
    (True, True)
    """
    sure, sample, hit = np.asarray(confidence, np.float64), np.asarray(items), np.asarray(right, bool)
    _check(sure, sample, hit, epsilon, alpha)
    found = MachineLabels(np.inf, np.zeros(len(sure), bool), 0.0, 0.0)
    for threshold in np.unique(np.quantile(sure, np.linspace(0, 1, STEPS), method="inverted_cdf"))[::-1]:
        mask = sure >= threshold
        inside = mask[sample]
        wrong = (~hit[inside]).astype(np.float64)
        bound = upper_mean(wrong, int(mask.sum()), alpha) * float(mask.mean())
        if bound > epsilon:
            break
        found = MachineLabels(float(threshold), mask, float(mask.mean()), bound)
    return found


def _check(
    sure: NDArray[np.float64],
    sample: NDArray[np.int64],
    hit: NDArray[np.bool_],
    epsilon: float,
    alpha: float,
) -> None:
    if sure.ndim != 1 or not len(sure) or not np.isfinite(sure).all():
        raise ValueError("the confidences are expected as one number for each item, for one item at least")
    if sample.ndim != 1 or sample.shape != hit.shape:
        raise ValueError(f"there are {sample.size} items and {hit.size} answers, expected as many")
    if len(sample) and (sample.dtype.kind not in "iu" or sample.min() < 0 or sample.max() >= len(sure)):
        raise ValueError(f"the sample has something else than places of the {len(sure)} items")
    if len(np.unique(sample)) < len(sample):
        raise ValueError("an item is in the sample twice; it is expected without replacement")
    for name, value in (("epsilon", epsilon), ("alpha", alpha)):
        if not 0 < value < 1:
            raise ValueError(f"{name} is {value}, expected a number between 0 and 1")
