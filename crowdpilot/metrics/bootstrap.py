"""How sure a measured value is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.metrics.compare import compare_labels, compare_probs, plain

CELLS = 2**22  # weights drawn together

Value = TypeVar("Value", float, Floats)


class Interval(NamedTuple, Generic[Value]):
    """A value and the bounds between which it may well be."""

    value: Value
    low: Value
    high: Value


def interval(
    metric: Callable[..., Value],
    truth: ArrayLike,
    predicted: ArrayLike,
    *,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Interval[Value]:
    """Bootstrap interval of a metric: its quantiles over tasks drawn again with replacement.

    To draw tasks again is to give them random weights that sum to their number. Tasks with the
    same truth and label are drawn together, so that their number costs no time.

    Parameters
    ----------
    metric
        One of `METRICS`, or another function of truth, predictions and `weight` that gives one
        value, or one array, for each row of weights.
    truth, predicted
        Of each task: names of classes for labels; codes and (tasks, classes) for probabilities.
    level
        How often the interval should hold the value for all tasks there might be.
    samples
        How many times to draw.
    seed
        Draws the tasks.

    References
    ----------
    Efron, The Annals of Statistics 7(1), 1979.

    Examples
    --------
    >>> from crowdpilot.metrics import accuracy
    >>> interval(accuracy, ["cat", "dog"] * 50, ["cat", "dog", "cat", "cat"] * 25)
    Interval(value=0.75, low=0.67, high=0.83)
    """
    if not 0 < level < 1 or samples < 1:
        raise ValueError(f"level is {level} and samples is {samples}, expected a share and 1 or more")
    true, said, count = _group(truth, predicted)
    rng = np.random.default_rng(seed)
    sizes = np.diff(np.r_[np.arange(0, samples, max(1, CELLS // len(count))), samples])
    drawn = [metric(true, said, weight=_draw(count, int(size), rng)) for size in sizes]
    low, high = np.quantile(np.concatenate(drawn), [(1 - level) / 2, (1 + level) / 2], axis=0)
    bounds: Any = plain(low), plain(high)
    return Interval(metric(true, said, weight=count), *bounds)


def _draw(count: Floats, samples: int, rng: Generator) -> NDArray[np.int64]:
    """How often each group is drawn, (samples, groups), when as many tasks are drawn as there are."""
    n = int(count.sum())
    if len(count) < n:
        return rng.multinomial(n, count / n, samples)
    rows = n * np.arange(samples)[:, None]  # all tasks differ: to draw and count them is faster
    drawn = rng.integers(n, size=(samples, n)) + rows
    return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)


def _group(truth: ArrayLike, predicted: ArrayLike) -> tuple[Codes, NDArray[Any], Floats]:
    """Tasks of known truth and how many there are like each; probabilities are not grouped."""
    if np.ndim(predicted) == 2:
        true, probs, weight, _ = compare_probs(truth, predicted, None)
        return true, probs, weight
    true, said, _, classes = compare_labels(truth, predicted, None)
    pair, count = np.unique(true.astype(np.int64) * len(classes) + said, return_counts=True)
    k, label = np.divmod(pair, len(classes))
    return k.astype(np.int32), label.astype(np.int32), count.astype(np.float64)
