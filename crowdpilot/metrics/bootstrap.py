"""How sure a measured value is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from crowdpilot.arrays import Floats
from crowdpilot.metrics.compare import compare_humans, compare_labels, compare_probs, plain

CELLS = 2**22  # weights drawn together

Value = TypeVar("Value")  # a number, an array, or a named tuple of either


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
        value, or one array, for each row of weights; or a named tuple of them, and then so are the
        bounds.
    truth, predicted
        Of each task: names of classes for labels; codes and (tasks, classes) for probabilities;
        twice (tasks, classes) for probabilities beside shares of people.
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
    true, said, count = _group(truth, predicted)
    kinds: set[Any] = set()  # of named tuple

    def value(weight: Floats) -> Any:
        found: Any = metric(true, said, weight=weight)
        if not hasattr(found, "_make"):
            return found
        kinds.add(type(found))
        return np.stack(found, axis=-1)

    bounds = resample(value, count, level=level, samples=samples, seed=seed)
    for kind in kinds:
        bounds = Interval(*(kind(*map(plain, np.moveaxis(bound, -1, 0))) for bound in bounds))
    return bounds


def resample(
    value: Callable[[Floats], Value],
    *counts: Floats,
    level: float = 0.95,
    samples: int = 1000,
    seed: int = 0,
) -> Interval[Value]:
    """Bootstrap interval of anything that can be computed from how often each task counts.

    A draw for which the value is undefined, that is NaN, is left out.

    Parameters
    ----------
    value
        Of how often each group of equal tasks counts, (..., groups): one value, or one array, for
        each row.
    counts
        How many tasks are in each group. Groups of different arrays, and of different rows of an
        array, are drawn apart; the value sees all of them side by side.
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
    step = max(1, CELLS // max(1, sum(count.size for count in counts)))
    sizes = np.diff(np.r_[np.arange(0, samples, step), samples]).tolist()
    drawn: list[Any] = [value(np.hstack([_draw(count, size, rng) for count, rng in parts])) for size in sizes]
    found: Any = plain(value(np.hstack([count.ravel() for count in counts])))
    return Interval(found, *_quantiles(np.concatenate(drawn), level))


def _draw(count: Floats, samples: int, rng: Generator) -> NDArray[np.int64]:
    """How often each group is drawn, (samples, groups), when as many tasks are drawn as there are."""
    n = count.sum(axis=-1).astype(np.int64)
    if count.ndim > 1 or len(count) < n:
        return rng.multinomial(n, count / n[..., None], (samples, *n.shape)).reshape(samples, -1)
    rows = n * np.arange(samples)[:, None]  # all tasks differ: to draw and count them is faster
    drawn = rng.integers(max(n, 1), size=(samples, n)) + rows
    return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)


def _quantiles(drawn: Floats, level: float) -> Any:
    """The bounds between which the share `level` of what is defined lies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing may be defined
        return map(plain, np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0))


def _group(truth: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Tasks of known truth and how many there are like each; probabilities are not grouped."""
    if np.ndim(truth) == 2:
        return compare_humans(truth, predicted, None)
    if np.ndim(predicted) == 2:
        true, probs, weight, _ = compare_probs(truth, predicted, None)
        return true, probs, weight
    true, said, _, classes = compare_labels(truth, predicted, None)
    pair, count = np.unique(true.astype(np.int64) * len(classes) + said, return_counts=True)
    k, label = np.divmod(pair, len(classes))
    return k.astype(np.int32), label.astype(np.int32), count.astype(np.float64)
