"""Checked inputs of metrics: truth, predictions and weights of the tasks whose truth is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.names import encode, natural_order, to_names


class Compared(NamedTuple):
    """Tasks of known truth: their classes, their predictions and their weights."""

    truth: Codes  # (tasks,)
    predicted: NDArray[Any]  # (tasks,) codes of labels, or (tasks, classes) probabilities
    weight: Floats  # (..., tasks)
    classes: Names  # those that occur in either, in natural order; for probabilities the columns


class ComparedSoftLabels(NamedTuple):
    """Soft labels by people, and predictions."""

    human: Floats  # (tasks, classes)
    predicted: Floats  # (tasks, classes)
    weight: Floats  # (..., tasks)


def compare_labels(truth: ArrayLike, labels: ArrayLike, weight: ArrayLike | None) -> Compared:
    """Two columns of names as codes into the same classes.

    A truth of None, NaN or, in a column of numbers, -1 is unknown. Numbers are compared by value;
    if either column holds anything else, both are compared as text.
    """
    true, said = to_names(truth), to_names(labels)
    _check_length(len(true), len(said), "labels")
    if _is_unknown(said).any():
        raise ValueError(f"label {_is_unknown(said).argmax() + 1} is missing, expected one for each task")
    known = ~_is_unknown(true)
    true, said, weights = true[known], said[known], _known_weights(known, weight)
    if "O" in (true.dtype.kind, said.dtype.kind):
        true, said = _to_text(true), _to_text(said)
    codes, names = encode(np.concatenate([true, said]))
    order = natural_order(names)
    t, p = np.split(np.argsort(order).astype(np.int32)[codes], 2)
    return Compared(t, p, weights, names[order])


def compare_probs(truth: ArrayLike, probs: ArrayLike, weight: ArrayLike | None) -> Compared:
    """Codes of the true classes beside probabilities, (tasks, classes); a code of -1 is unknown."""
    t, p = np.asarray(truth), np.asarray(probs, np.float64)
    if p.ndim != 2:
        raise ValueError(f"the probabilities have shape {p.shape}, expected (tasks, classes)")
    if t.ndim != 1:
        raise ValueError(f"the truth has shape {t.shape}, expected one code for each task")
    _check_length(len(t), len(p), "rows of probabilities")
    if t.dtype.kind not in "iu" or (len(t) and not -1 <= t.min() <= t.max() < p.shape[1]):
        raise ValueError(f"the truth holds something else than codes between -1 and {p.shape[1] - 1}")
    _check_sums(p, "the probabilities")
    known = t >= 0
    return Compared(t[known].astype(np.int32), p[known], _known_weights(known, weight), np.arange(p.shape[1]))


def compare_soft_labels(human: ArrayLike, probs: ArrayLike, weight: ArrayLike | None) -> ComparedSoftLabels:
    """Shares of people who choose each class beside probabilities, both (tasks, classes)."""
    h, p = np.asarray(human, np.float64), np.asarray(probs, np.float64)
    if h.ndim != 2 or h.shape != p.shape:
        raise ValueError(
            f"the shares of people have shape {h.shape} and the probabilities {p.shape}, "
            "expected (tasks, classes) of both"
        )
    _check_sums(h, "the shares of people")
    _check_sums(p, "the probabilities")
    return ComparedSoftLabels(h, p, _known_weights(np.ones(len(h), bool), weight))


def average(values: ArrayLike, weight: Floats) -> float:
    """Weighted mean over tasks, for each row of weights."""
    return plain(weight @ np.asarray(values, np.float64) / weight.sum(axis=-1))


def plain(values: Any) -> float:
    """A Python float if there is one value; values of several rows of weights stay an array."""
    number: float = values if np.ndim(values) else float(values)
    return number


def spread(values: Floats, codes: Codes, K: int) -> Any:
    """Sparse (tasks, K) with each value in the column of its code: weights times it are sums by code."""
    return csr_array((values, (np.arange(len(codes)), codes)), (len(codes), K))


def spread_classes(values: Floats, codes: Codes, K: int) -> Any:
    """Sparse (tasks, classes x K): `spread` for every column of values, side by side."""
    n, classes = values.shape
    columns = np.arange(classes) * K + codes
    return csr_array((values.ravel(), columns.ravel(), np.arange(n + 1) * classes), (n, classes * K))


def _known_weights(known: NDArray[np.bool_], weight: ArrayLike | None) -> Floats:
    """The weights of the tasks of known truth, (..., tasks); one each if there are none."""
    weights = np.ones(len(known)) if weight is None else np.atleast_1d(np.asarray(weight, np.float64))
    _check_length(len(known), weights.shape[-1], "weights")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("a task has a negative or infinite weight; weights are 0 or more")
    weights = weights[..., known]
    if not weights.any(axis=-1).all():
        raise ValueError("no task has a known class and a weight, expected at least one")
    return weights


def _check_sums(p: Floats, what: str) -> None:
    if not ((p >= 0).all() and np.allclose(p.sum(axis=1), 1, atol=1e-6)):
        raise ValueError(f"a row of {what} has a negative number or does not sum to 1")


def _is_unknown(names: Names) -> NDArray[np.bool_]:
    if names.dtype.kind in "if":
        unknown: NDArray[np.bool_] = (names == -1) | (names != names)  # NaN is not itself
        return unknown
    return encode(names).codes < 0


def _to_text(names: Names) -> Names:
    codes, distinct = encode(names)
    text = np.empty(len(distinct), object)
    text[:] = [str(int(n) if isinstance(n, float) and n.is_integer() else n) for n in distinct.tolist()]
    return text[codes]


def _check_length(tasks: int, others: int, what: str) -> None:
    if tasks != others:
        raise ValueError(f"there are {others} {what}, expected one for each of {tasks} tasks")
