"""Bootstrap intervals of any metric, by resampling tasks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.metrics.compare import compare_labels, compare_probs, compare_soft_labels, plain

MAX_WEIGHTS_PER_BLOCK = 2**22  # drawn together
MAX_RESAMPLED_TASKS = 10_000  # of more tasks that all differ, so many are resampled

Value = TypeVar("Value")  # a number, an array, or a named tuple of either


class Interval(NamedTuple, Generic[Value]):
    """A value and the bounds of its interval."""

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
    """Bootstrap percentile interval of a metric over tasks resampled with replacement.

    A sample of the tasks is a multinomial weight for each of them. Tasks with the same truth and
    label are grouped, so that their number costs no time. Of more than 10,000 tasks with
    probabilities, m = 10,000 are drawn at random; the value is that of all n tasks, and its distances
    from the bounds are those of the m tasks times sqrt(m / n).

    Parameters
    ----------
    metric
        One of `METRICS`, or another function of truth, predictions and `weight` that returns one
        value, or one array, for each row of weights; or a named tuple of them, and then the bounds
        are named tuples too.
    truth, predicted
        Of each task: names of classes for labels; codes and (tasks, classes) for probabilities;
        (tasks, classes) for soft labels and (tasks, classes) for probabilities.
    level
        Confidence level of the interval.
    samples
        Number of bootstrap samples.
    seed
        Of the resampling.

    References
    ----------
    Efron, The Annals of Statistics 7(1), 1979. Bickel, Götze and van Zwet, Resampling fewer than n
    observations, Statistica Sinica 7, 1997.

    Examples
    --------
    >>> from crowdpilot.metrics import accuracy
    >>> interval(accuracy, ["cat", "dog"] * 50, ["cat", "dog", "cat", "cat"] * 25)
    Interval(value=0.75, low=0.67, high=0.83)
    """
    true, labels, count = _group(truth, predicted)
    tuple_types: set[Any] = set()

    def value(tasks: Any, weight: Floats) -> Any:
        result: Any = metric(true[tasks], labels[tasks], weight=weight)
        if not hasattr(result, "_make"):
            return result
        tuple_types.add(type(result))
        return np.stack(result, axis=-1)

    every = slice(None)
    if len(count) <= MAX_RESAMPLED_TASKS or len(count) < count.sum():
        bounds = resample(partial(value, every), count, level=level, samples=samples, seed=seed)
    else:
        some = np.random.default_rng(seed).choice(len(count), MAX_RESAMPLED_TASKS, replace=False)
        part = resample(partial(value, some), count[some], level=level, samples=samples, seed=seed)
        bounds = _rescale(plain(value(every, count)), part, np.sqrt(len(some) / len(count)))
    for tuple_type in tuple_types:
        bounds = Interval(*(tuple_type(*map(plain, np.moveaxis(bound, -1, 0))) for bound in bounds))
    return bounds


def _rescale(value: Any, part: Interval[Any], factor: float) -> Any:
    """The interval around a value whose bounds are nearer by a factor; what is never negative stays so."""
    low, high = (value + factor * (bound - part.value) for bound in part[1:])
    return Interval(value, plain(np.where(part.low >= 0, np.maximum(low, 0), low)), plain(high))


def resample(
    value: Callable[[Floats], Value],
    *counts: Floats,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Interval[Value]:
    """Bootstrap percentile interval of any function of the number of tasks in each group of equal tasks.

    A sample for which the value is undefined, that is NaN, is left out.

    Parameters
    ----------
    value
        Function of the number of tasks in each group, (..., groups), that returns one value, or one
        array, for each row.
    counts
        How many tasks are in each group. Different arrays, and different rows of an array, are
        strata: each is resampled by itself; `value` gets all of them side by side.
    level, samples, seed
        As in `interval`.

    Examples
    --------
    >>> resample(lambda count: count @ [0, 1] / count.sum(axis=-1), np.array([25, 75]))
    Interval(value=0.75, low=0.66, high=0.83)
    """
    if not 0 < level < 1 or samples < 1:
        raise ValueError(f"level is {level} and samples is {samples}, expected a share and 1 or more")
    first: Generator = np.random.default_rng(seed)
    parts = list(zip(counts, [first, *first.spawn(len(counts) - 1)], strict=True))
    step = max(1, MAX_WEIGHTS_PER_BLOCK // max(1, sum(count.size for count in counts)))
    sizes = np.diff(np.r_[np.arange(0, samples, step), samples]).tolist()
    values: list[Any] = [
        value(np.hstack([_draw(count, size, rng) for count, rng in parts])) for size in sizes
    ]
    estimate: Any = plain(value(np.hstack([count.ravel() for count in counts])))
    return Interval(estimate, *_quantiles(np.concatenate(values), level))


def _draw(count: Floats, samples: int, rng: Generator) -> NDArray[np.int64]:
    """Multinomial counts of the groups, (samples, groups), that sum to the number of tasks."""
    n = count.sum(axis=-1).astype(np.int64)
    if count.ndim > 1 or len(count) < n:
        return rng.multinomial(n, count / n[..., None], (samples, *n.shape)).reshape(samples, -1)
    rows = n * np.arange(samples)[:, None]  # all tasks differ: drawing and counting them is faster
    drawn = rng.integers(max(n, 1), size=(samples, n)) + rows
    return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)


def _quantiles(values: Floats, level: float) -> Any:
    """The central interval that holds the share `level` of the defined values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # all values may be undefined
        return map(plain, np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0))


def _group(truth: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Distinct pairs of truth and label, and how many tasks have each; probabilities are not grouped."""
    if np.ndim(truth) == 2:
        return compare_soft_labels(truth, predicted, None)
    if np.ndim(predicted) == 2:
        true, probs, weight, _ = compare_probs(truth, predicted, None)
        return true, probs, weight
    true, labels, _, classes = compare_labels(truth, predicted, None)
    pair, count = np.unique(true.astype(np.int64) * len(classes) + labels, return_counts=True)
    k, label = np.divmod(pair, len(classes))
    return k.astype(np.int32), label.astype(np.int32), count.astype(np.float64)
