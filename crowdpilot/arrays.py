"""Array types and the few operations that every room needs."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Names = NDArray[Any]

EXTREME = 600.0  # logs within need no scaling before their exponential is taken
BLOCK = 8192  # rows that fit the cache together with their temporaries
PIECE = 1 << 18  # of long columns, where temporaries as long would be too many


def library(array: Any) -> Any:
    """The module whose functions work on an array: numpy, or torch for a tensor.

    Only what both call by the same name may be used of it.
    """
    return sys.modules[type(array).__module__.partition(".")[0]]


def need_arrow(what: str) -> Any:
    """The module of Arrow, or an error that says how to get it."""
    try:
        return import_module("pyarrow")
    except ImportError:
        raise ValueError(f'{what} needs pyarrow: pip install "crowdpilot[arrow]"') from None


class Encoded(NamedTuple):
    """Value *n* is `names[codes[n]]`; it is missing where the code is -1."""

    codes: Codes
    names: Names


def encode(values: ArrayLike) -> Encoded:
    """Number the distinct values in the order of their first appearance; None and NaN are missing."""
    array = to_names(values)
    if array.dtype == object:
        index: dict[Any, int] = {}
        found = [-1 if is_missing(v) else index.setdefault(v, len(index)) for v in array]
        return Encoded(np.asarray(found, np.int32), to_names(list(index)))
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), bool)
    names, first, codes = np.unique(array[~missing], return_index=True, return_inverse=True)
    order = np.argsort(first)
    full = np.full(len(array), -1, np.int32)
    full[~missing] = np.argsort(order)[codes]
    return Encoded(full, names[order])


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN (the one thing not equal to itself)."""
    return value is None or bool(value != value)


def to_names(values: ArrayLike) -> Names:
    """One-dimensional array of names: numbers stay numbers, texts become an array of objects."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biufMO":
        return values
    listed = list(values)  # type: ignore[arg-type]  # any iterable is welcome here
    kinds = {type(v) for v in listed}
    if kinds and (kinds <= {int, np.int64, np.int32} or kinds == {bool} or kinds <= {float}):
        return np.asarray(listed)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def natural_order(names: Names) -> NDArray[np.intp]:
    """Order in which people count: numbers by value, `item2` before `item10`."""
    if names.dtype != object:
        return np.argsort(names, kind="stable")
    return np.asarray(sorted(range(len(names)), key=lambda n: _natural(names[n])), np.intp)


def _natural(name: Any) -> tuple[Any, ...]:
    if isinstance(name, (int, float)):
        return (0, name, ())
    parts = re.split(r"([0-9]+)", str(name))  # every second one is a number, of any length
    ranks = (((len(d := p.lstrip("0")), d) if n % 2 else (-1, p)) for n, p in enumerate(parts))
    return (1, 0, tuple(ranks))


def hash_names(names: Names, seed: int) -> NDArray[np.uint64]:
    """One number for each name, that depends on nothing but the name and the seed."""
    text = names.astype("U")
    short = text.astype(f"U{min(text.itemsize // 4, 64)}")
    letters = short.reshape(-1, 1).view(np.uint32).astype(np.uint64)
    mixed = np.full(len(names), _mix(np.array([seed % 2**64], np.uint64))[0])
    for column in letters.T:
        mixed = np.where(column > 0, _mix(mixed ^ column), mixed)  # padding does not count
    return mixed


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): nearby numbers end far apart."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def to_probs(scores: ArrayLike, *, copy: bool = True) -> Floats:
    """Scale each row to sum to one; a row of zeros becomes uniform."""
    rows = np.array(scores, np.float64, copy=copy or None)
    total = rows @ np.ones(rows.shape[-1])
    rows[total == 0] = 1
    rows /= np.where(total == 0, rows.shape[-1], total)[..., None]
    return rows


def share_best(scores: Floats) -> Floats:
    """All probability on the highest score of each row; equals share it."""
    best = scores.max(axis=-1, keepdims=True)
    return to_probs(scores >= best - 1e-12 * (1 + np.abs(best)))


def softmax_(joint: Floats) -> float:
    """Turn rows of logs into probabilities *in place*; return the sum of their log-sum-exps."""
    total = 0.0
    ones = np.ones(joint.shape[1])
    for start in range(0, len(joint), BLOCK):
        rows = joint[start : start + BLOCK]
        if rows.min() < -EXTREME or rows.max() > EXTREME:
            top = rows.max(axis=1)
            rows -= top[:, None]
            total += float(top.sum())
        np.exp(rows, out=rows)
        mass = rows @ ones
        rows *= (1 / mass)[:, None]
        total += float(np.log(mass).sum())
    return total


def softmax(joint: Floats) -> Floats:
    """Rows of logs to rows of probabilities."""
    probs = np.array(joint, np.float64)
    softmax_(probs)
    return probs


def sum_by(codes: NDArray[Any], weights: Floats | None, length: int) -> Floats:
    """Sum of the weights of each code; how often it occurs if there are none."""
    if len(codes) < 4 * max(length, PIECE):
        return np.bincount(codes, weights, length).astype(np.float64, copy=False)
    total = np.zeros(length)
    for n in range(0, len(codes), PIECE):
        piece = slice(n, n + PIECE)  # each is as long in 64 bits as the temporaries are
        total += np.bincount(codes[piece], None if weights is None else weights[piece], length)
    return total


def pair(first: Codes, second: Codes, shape: tuple[int, int]) -> NDArray[np.integer]:
    """One number for each pair of codes, in 32 bits if they suffice."""
    if shape[0] * shape[1] > np.iinfo(np.int32).max:
        return first.astype(np.int64) * shape[1] + second
    return first * np.int32(shape[1]) + second


def sum_by_pair(first: Codes, second: Codes, weights: Floats | None, shape: tuple[int, int]) -> Floats:
    """Sum of the weights of each pair of codes, as a table; with few temporaries if the first never fall."""
    if not rises(first):
        return sum_by(pair(first, second, shape), weights, shape[0] * shape[1]).reshape(shape)
    table = np.zeros(shape)
    for n in range(0, len(first), PIECE):
        piece = slice(n, n + PIECE)
        low, high = first[n], first[piece][-1] + 1
        pairs = (first[piece] - low).astype(np.int64) * shape[1] + second[piece]
        some = sum_by(pairs, None if weights is None else weights[piece], int(high - low) * shape[1])
        table[low:high] += some.reshape(-1, shape[1])
    return table


def rises(first: NDArray[Any], second: NDArray[Any] | None = None) -> bool:
    """Whether codes never fall; or pairs of codes always rise, by the first and then the second."""
    for n in range(0, len(first) - 1, PIECE):
        a, b = first[n : n + PIECE], first[n + 1 : n + PIECE + 1]
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
    """Pairs sorted by row and column, with the weights of equal ones added up; none if all are one."""
    ones = np.ones(len(row), np.float32)  # exact up to 16 million
    summed = coo_array((ones if weight is None else weight, (row, column)), shape).tocsr()
    summed.sum_duplicates()
    summed.eliminate_zeros()
    rows = np.repeat(np.arange(shape[0], dtype=np.int32), np.diff(summed.indptr))
    plain = weight is None and len(rows) == len(row)
    return rows, summed.indices, None if plain else summed.data.astype(np.float64)


def lookup(names: Names, known: Names) -> Codes:
    """The position of each name among the known ones, compared as text; -1 for an unknown name.

    Examples
    --------
    >>> lookup(np.array(["b", "x"]), np.array(["a", "b"])).tolist()
    [1, -1]
    """
    position = {str(name): n for n, name in enumerate(known.tolist())}
    return np.asarray([position.get(str(name), -1) for name in names.tolist()], np.int32)


def divide(part: Any, whole: Any, otherwise: float = np.nan) -> Floats:
    """The one over the other; where that is zero, something else.

    Examples
    --------
    >>> divide(np.array([1, 2]), np.array([4, 0])).tolist()
    [0.25, nan]
    """
    whole = np.broadcast_to(whole, np.shape(part))
    ratio: Floats = np.divide(part, whole, out=np.full(whole.shape, float(otherwise)), where=whole != 0)
    return ratio


def has_repeats(keys: NDArray[Any]) -> bool:
    """Whether a value occurs more than once; quick if they rise."""
    steps = np.diff(keys)
    return not (steps > 0).all() and bool((np.diff(np.sort(keys)) == 0).any())


def number_labels(label: Encoded, classes: Sequence[Any] | None, abstain: set[str]) -> tuple[Codes, Names]:
    """Codes into the sorted or given classes; -1 for a missing label and an abstention."""
    votes_for = np.asarray([str(name) not in abstain for name in label.names.tolist()], bool)
    if classes is None:
        names = label.names[votes_for]
        order = natural_order(names)
        names = names[order]
        number = np.full(len(label.names) + 1, -1, np.int32)  # the last one is for missing labels
        number[np.flatnonzero(votes_for)[order]] = np.arange(len(names))
        return number[label.codes], names
    given = {str(name): k for k, name in enumerate(classes)}
    if len(given) < len(classes):
        raise ValueError("a class is given twice")
    found = [given.get(str(n), -2) if v else -1 for n, v in zip(label.names.tolist(), votes_for, strict=True)]
    number = np.asarray([*found, -1], np.int32)
    codes = number[label.codes]
    if (codes == -2).any():
        row = int(np.argmax(codes == -2))
        raise ValueError(
            f"label '{label.names[label.codes[row]]}' of vote {row + 1} is not one of the classes "
            f"{', '.join(map(str, classes))}"
        )
    return codes, to_names(list(classes))
