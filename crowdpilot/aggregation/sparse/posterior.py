"""Beliefs that are written down for some classes of each task alone, as a sparse matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdpilot.arrays import Codes, Floats, sum_by

Beliefs = Floats | csr_array  # (tasks, classes); what is left of a sparse row, other classes share
Lots = Callable[[NDArray[Any]], NDArray[np.uint64]]  # a number for each of some tasks

TIE = 1e-9  # probabilities closer than this are equal: rounding must not decide a label
BLOCK = 2**22  # numbers of sparse rows to write out at a time


def pick(probs: Floats, lots: Lots) -> Codes:
    """The most probable class of each task; equals are drawn by lot."""
    best = probs >= probs.max(axis=1, keepdims=True) - TIE
    codes: Codes = best.argmax(axis=1).astype(np.int32)
    tied = np.flatnonzero(best.sum(axis=1) > 1)
    if len(tied):
        rank = np.cumsum(best[tied], axis=1)
        drawn = (lots(tied) % rank[:, -1].astype(np.uint64)).astype(np.int64) + 1
        codes[tied] = (rank >= drawn[:, None]).argmax(axis=1)
    return codes


def pick_sparse(probs: csr_array, prior: Floats, lots: Lots) -> Codes:
    """The most probable class of each task, as `pick` would find it."""
    T, K = probs.shape
    codes, top = np.zeros(T, np.int32), np.zeros(T)
    row, each = _others(probs, prior)
    some = np.diff(probs.indptr) > 0
    if some.any():
        top[some] = np.maximum.reduceat(probs.data, probs.indptr[:-1][some])
    clear = some & (top - TIE > each * prior.max())  # no other class can have more than that
    codes[clear] = _pick_listed(probs, row, top, lots)[clear]
    equal = np.flatnonzero(prior >= prior.max() - TIE)
    codes[~some] = equal[lots(np.flatnonzero(~some)) % np.uint64(len(equal))]
    unclear = np.flatnonzero(some & ~clear)
    for rows in np.array_split(unclear, -(-len(unclear) * K // BLOCK) or 1):
        codes[rows] = pick(fill(probs[rows], prior), lots(rows).__getitem__)
    return codes


def _pick_listed(probs: csr_array, row: NDArray[Any], top: Floats, lots: Lots) -> Codes:
    """The best of the classes that are written down; any for a task without."""
    best = np.flatnonzero(probs.data >= top[row] - TIE)
    equals = np.bincount(row[best], minlength=len(top))
    drawn = np.cumsum(equals) - equals
    tied = np.flatnonzero(equals > 1)
    if len(tied):
        drawn[tied] += (lots(tied) % equals[tied].astype(np.uint64)).astype(np.int64)
    codes: Codes = probs.indices[best][np.minimum(drawn, max(len(best) - 1, 0))] if len(best) else drawn
    return codes


def at(probs: Beliefs, task: NDArray[Any], label: NDArray[Any], prior: Floats | None = None) -> Floats:
    """Single beliefs; a share of what is left where none is written down, or zero without a prior.

    Labels must rise in every row of a sparse matrix.
    """
    if isinstance(probs, np.ndarray):
        dense: Floats = probs[task, label]
        return dense
    row, each = _others(probs, np.zeros(probs.shape[1]) if prior is None else prior)
    others = np.zeros(len(task)) if prior is None else each[task] * prior[label]
    if len(row) == 0:
        return others
    keys = row * probs.shape[1] + probs.indices
    asked = task.astype(np.int64) * probs.shape[1] + label
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    found: Floats = np.where(keys[place] == asked, probs.data[place], others)
    return found


def fill(probs: csr_array, prior: Floats) -> Floats:
    """Sparse beliefs as an array (tasks, classes): what is left is shared by the others as `prior` says."""
    row, each = _others(probs, prior)
    full = each[:, None] * prior
    full[row, probs.indices] = probs.data
    return full


def _others(probs: csr_array, prior: Floats) -> tuple[NDArray[Any], Floats]:
    """The row of each number; and what other classes have in each row, for each unit of their prior."""
    T, K = probs.shape
    row = np.repeat(np.arange(T), np.diff(probs.indptr))
    left = np.maximum(1 - sum_by(row, probs.data, T), 0)
    outside = np.where(np.diff(probs.indptr) < K, 1 - sum_by(row, prior[probs.indices], T), 0)
    return row, np.divide(left, outside, out=np.zeros(T), where=outside > 0)
