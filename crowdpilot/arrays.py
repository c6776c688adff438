"""Array types, and operations on arrays: softmax, sums by code, keys of pairs, selections."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from crowdpilot.optional_packages import load

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Names = NDArray[Any]
REPEATS = ("last", "first", "all", "error")  # what counts when a worker votes on a task again

MAX_UNSCALED_LOG = 600.0  # the exponential of smaller logs neither overflows nor underflows
ROWS_PER_BLOCK = 8192  # so many rows fit the cache together with their temporaries
TIE = 1e-9  # probabilities closer than this are equal: rounding must not decide a label
VALUES_PER_CHUNK = 1 << 18  # long columns are summed in chunks, so that temporaries stay small


def library(array: Any) -> Any:
    """The module whose functions work on an array: numpy, or torch for a tensor.

    Only what both call by the same name may be used of it.
    """
    return sys.modules[type(array).__module__.partition(".")[0]]


def need_arrow(what: str) -> Any:
    """The pyarrow module, or an error that says how to install it."""
    return load("pyarrow", what)


def to_probs(scores: ArrayLike, *, copy: bool = True) -> Floats:
    """Scale each row to sum to one; a row of zeros becomes uniform."""
    rows = np.array(scores, np.float64, copy=copy or None)
    total = rows @ np.ones(rows.shape[-1])
    rows[total == 0] = 1
    rows /= np.where(total == 0, rows.shape[-1], total)[..., None]
    return rows


def share_best(scores: Floats) -> Floats:
    """All probability on the highest score of each row, divided between equal ones."""
    best = scores.max(axis=-1, keepdims=True)
    return to_probs(scores >= best - 1e-12 * (1 + np.abs(best)))


def softmax_(joint: Floats) -> float:
    """Softmax of each row *in place*; returns the sum of the log-sum-exps of the rows."""
    total = 0.0
    ones = np.ones(joint.shape[1])
    for start in range(0, len(joint), ROWS_PER_BLOCK):
        rows = joint[start : start + ROWS_PER_BLOCK]
        if rows.min() < -MAX_UNSCALED_LOG or rows.max() > MAX_UNSCALED_LOG:
            top = rows.max(axis=1)
            rows -= top[:, None]
            total += float(top.sum())
        np.exp(rows, out=rows)
        mass = rows @ ones
        rows *= (1 / mass)[:, None]
        total += float(np.log(mass).sum())
    return total


def softmax(joint: Floats) -> Floats:
    """Softmax of each row."""
    probs = np.array(joint, np.float64)
    softmax_(probs)
    return probs


def sum_by(codes: NDArray[Any], weights: Floats | None, length: int) -> Floats:
    """Sum of the weights of each code, (length,); how often each code occurs without weights."""
    if len(codes) < 4 * max(length, VALUES_PER_CHUNK):
        return np.bincount(codes, weights, length).astype(np.float64, copy=False)
    total = np.zeros(length)
    for n in range(0, len(codes), VALUES_PER_CHUNK):
        chunk = slice(n, n + VALUES_PER_CHUNK)  # of which 64-bit temporaries are made
        total += np.bincount(codes[chunk], None if weights is None else weights[chunk], length)
    return total


def pair(first: Codes, second: Codes, shape: tuple[int, int]) -> NDArray[np.integer]:
    """The key first x shape[1] + second of each pair of codes, in 32 bits if they suffice."""
    if shape[0] * shape[1] > np.iinfo(np.int32).max:
        return first.astype(np.int64) * shape[1] + second
    return first * np.int32(shape[1]) + second


def sum_by_pair(first: Codes, second: Codes, weights: Floats | None, shape: tuple[int, int]) -> Floats:
    """Sum of the weights of each pair of codes, (shape); with few temporaries if `first` is sorted."""
    if not rises(first):
        return sum_by(pair(first, second, shape), weights, shape[0] * shape[1]).reshape(shape)
    table = np.zeros(shape)
    for n in range(0, len(first), VALUES_PER_CHUNK):
        chunk = slice(n, n + VALUES_PER_CHUNK)
        low, high = first[n], first[chunk][-1] + 1
        pairs = (first[chunk] - low).astype(np.int64) * shape[1] + second[chunk]
        some = sum_by(pairs, None if weights is None else weights[chunk], int(high - low) * shape[1])
        table[low:high] += some.reshape(-1, shape[1])
    return table


def rises(first: NDArray[Any], second: NDArray[Any] | None = None) -> bool:
    """Whether codes are sorted; or pairs of codes strictly increase, by the first and then the second."""
    for n in range(0, len(first) - 1, VALUES_PER_CHUNK):
        a, b = first[n : n + VALUES_PER_CHUNK], first[n + 1 : n + VALUES_PER_CHUNK + 1]
        a = a[: len(b)]
        up = a <= b
        if second is not None:
            up = (a < b) | ((a == b) & (second[n : n + len(b)] < second[n + 1 : n + 1 + len(b)]))
        if not up.all():
            return False
    return True


def merge(
    row: Codes, column: NDArray[Any], weight: Floats | None, shape: tuple[int, int]
) -> tuple[Codes, NDArray[Any], Floats | None]:
    """Pairs sorted by row and column, with the weights of equal ones added up; None if all are one."""
    ones = np.ones(len(row), np.float32)  # exact up to 16 million
    summed = coo_array((ones if weight is None else weight, (row, column)), shape).tocsr()
    summed.sum_duplicates()
    summed.eliminate_zeros()
    rows = np.repeat(np.arange(shape[0], dtype=np.int32), np.diff(summed.indptr))
    plain = weight is None and len(rows) == len(row)
    return rows, summed.indices, None if plain else summed.data.astype(np.float64)


def frozen(values: ArrayLike, dtype: type, length: int, name: str) -> NDArray[Any]:
    """A column as a contiguous array that cannot be written to; an error if it has another length."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype).view()
    if array.shape != (length,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({length},)")
    array.flags.writeable = False
    return array


def check_codes(codes: Codes, low: int, high: int, name: str) -> None:
    """Refuse codes below `low`, or `high` and above."""
    if len(codes) and not (low <= codes.min() <= codes.max() < high):
        raise ValueError(f"a code in {name} is not between {low} and {high - 1}")


def selection(chosen: Any, length: int) -> tuple[Codes, Codes]:
    """The chosen codes (codes, a mask, or None for all), and the position of every code among them or -1."""
    codes: Codes = np.arange(length, dtype=np.int32)
    if chosen is None:
        return codes, codes
    codes = codes[np.asarray(chosen)]
    position = np.full(length, -1, np.int32)
    position[codes] = np.arange(len(codes))
    if (position >= 0).sum() < len(codes):
        raise ValueError("a code is selected more than once; a weight says how often a vote counts")
    return codes, position


def positions(rows: Any, length: int) -> Codes:
    """The positions that one number, a slice, a list of numbers or a mask selects, counted as in numpy."""
    rows = rows[0] if isinstance(rows, tuple) and rows[1:] == (Ellipsis,) else rows  # as scikit-learn asks
    if not isinstance(rows, slice):
        rows = np.atleast_1d(np.asarray(rows if np.size(rows) else np.zeros(0, np.intp)))
        if rows.ndim > 1 or rows.dtype.kind not in "biu":
            raise TypeError(
                "tasks are selected by positions or a mask, as in votes[:10]; by their names with "
                "votes[votes.index('tasks', names)]"
            )
    try:
        chosen: Codes = np.arange(length, dtype=np.int32)[rows]
    except IndexError as error:
        raise IndexError(f"there are {length} tasks: {error}") from None
    return chosen


def check_weights(weight: Floats | None) -> None:
    """Raise if a weight is below 0 or not finite."""
    if weight is not None and not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("a vote has a negative or infinite weight; weights are 0 or more")


def certain(probs: Floats, codes: Codes) -> Floats:
    """The same probabilities, but one for the class of each row whose code is not -1."""
    known = np.flatnonzero(codes >= 0)
    probs = np.array(probs)
    probs[known] = 0
    probs[known, codes[known]] = 1
    return probs


def first_of_each(keys: NDArray[Any]) -> NDArray[np.intp]:
    """The positions at which each key occurs first, in their order."""
    return np.sort(np.unique(keys, return_index=True)[1])


def last_of_each(keys: NDArray[Any]) -> NDArray[np.intp]:
    """The positions at which each key occurs last, in their order."""
    return np.sort(len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1])


def divide(part: Any, whole: Any, otherwise: float = np.nan) -> Floats:
    """`part` / `whole`, and `otherwise` where `whole` is zero.

    Examples
    --------
    >>> divide(np.array([1, 2]), np.array([4, 0])).tolist()
    [0.25, nan]
    """
    whole = np.broadcast_to(whole, np.shape(part))
    ratio: Floats = np.divide(part, whole, out=np.full(whole.shape, float(otherwise)), where=whole != 0)
    return ratio


def has_repeats(keys: NDArray[Any]) -> bool:
    """Whether a value occurs more than once; fast if they increase."""
    steps = np.diff(keys)
    return not (steps > 0).all() and bool((np.diff(np.sort(keys)) == 0).any())


def rows_that_count(task: Codes, worker: Codes, names: tuple[Names, Names], repeats: str) -> Any:
    """The first or the last vote of each worker on each task; None if all votes count.

    Parameters
    ----------
    task, worker
        The codes of each vote.
    names
        Of the tasks and of the workers.
    repeats
        `"last"`, `"first"`, `"all"`, or `"error"` if there must be none.
    """
    if repeats not in REPEATS:
        raise ValueError(f"repeats is {repeats!r}, expected one of {', '.join(REPEATS)}")
    pairs = pair(task, worker, (len(names[0]), len(names[1])))
    if repeats == "all" or not has_repeats(pairs):
        return None
    rows = last_of_each(pairs) if repeats == "last" else first_of_each(pairs)
    if repeats == "error":
        n = np.setdiff1d(np.arange(len(pairs)), rows)[0]
        raise ValueError(
            f"worker '{names[1][worker[n]]}' labels task '{names[0][task[n]]}' more than once; "
            "say which vote counts with repeats='last', 'first' or 'all'"
        )
    return rows
