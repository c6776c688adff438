"""Sparse posteriors: probabilities stored for some classes of each task, the rest spread over the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from crowdpilot.arrays import TIE, Codes, Floats, sum_by

Posterior = Floats | csr_array  # (tasks, classes); the rest of a sparse row belongs to the other classes
TieHash = Callable[[NDArray[Any]], NDArray[np.uint64]]  # codes of tasks to a seeded hash of their names

MAX_DENSE_BLOCK = 2**22  # numbers of sparse rows that are made dense at a time


def most_probable(probs: Floats, tie_hash: TieHash) -> Codes:
    """The most probable class of each task; ties are broken by a seeded hash of the task's name."""
    best = probs >= probs.max(axis=1, keepdims=True) - TIE
    codes: Codes = best.argmax(axis=1).astype(np.int32)
    tied = np.flatnonzero(best.sum(axis=1) > 1)
    if len(tied):
        rank = np.cumsum(best[tied], axis=1)
        chosen = (tie_hash(tied) % rank[:, -1].astype(np.uint64)).astype(np.int64) + 1
        codes[tied] = (rank >= chosen[:, None]).argmax(axis=1)
    return codes


def most_probable_sparse(probs: csr_array, prior: Floats, tie_hash: TieHash) -> Codes:
    """The most probable class of each task, equal to `most_probable` of the dense array."""
    T, K = probs.shape
    codes, top = np.zeros(T, np.int32), np.zeros(T)
    row, rest = _rest_per_prior(probs, prior)
    listed = np.diff(probs.indptr) > 0
    if listed.any():
        top[listed] = np.maximum.reduceat(probs.data, probs.indptr[:-1][listed])
    clear = listed & (top - TIE > rest * prior.max())  # no unlisted class can have more than that
    codes[clear] = _most_probable_listed(probs, row, top, tie_hash)[clear]
    equal = np.flatnonzero(prior >= prior.max() - TIE)
    codes[~listed] = equal[tie_hash(np.flatnonzero(~listed)) % np.uint64(len(equal))]
    unclear = np.flatnonzero(listed & ~clear)
    for rows in np.array_split(unclear, -(-len(unclear) * K // MAX_DENSE_BLOCK) or 1):
        codes[rows] = most_probable(to_dense(probs[rows], prior), tie_hash(rows).__getitem__)
    return codes


def _most_probable_listed(probs: csr_array, row: NDArray[Any], top: Floats, tie_hash: TieHash) -> Codes:
    """The most probable of the listed classes; any for a task without."""
    best = np.flatnonzero(probs.data >= top[row] - TIE)
    n_tied = np.bincount(row[best], minlength=len(top))
    chosen = np.cumsum(n_tied) - n_tied
    tied = np.flatnonzero(n_tied > 1)
    if len(tied):
        chosen[tied] += (tie_hash(tied) % n_tied[tied].astype(np.uint64)).astype(np.int64)
    codes: Codes = probs.indices[best][np.minimum(chosen, max(len(best) - 1, 0))] if len(best) else chosen
    return codes


def probability_of(
    probs: Posterior, task: NDArray[Any], label: NDArray[Any], prior: Floats | None = None
) -> Floats:
    """Entries `probs[task, label]`; an unlisted class has its part of the rest, or zero without a prior.

    The labels of every row of a sparse matrix must be sorted.
    """
    if isinstance(probs, np.ndarray):
        dense: Floats = probs[task, label]
        return dense
    row, rest = _rest_per_prior(probs, np.zeros(probs.shape[1]) if prior is None else prior)
    unlisted = np.zeros(len(task)) if prior is None else rest[task] * prior[label]
    if len(row) == 0:
        return unlisted
    keys = row * probs.shape[1] + probs.indices
    wanted = task.astype(np.int64) * probs.shape[1] + label
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    entries: Floats = np.where(keys[at] == wanted, probs.data[at], unlisted)
    return entries


def to_dense(probs: csr_array, prior: Floats) -> Floats:
    """A sparse posterior as an array (tasks, classes); the rest of a row is spread as `prior` says."""
    row, rest = _rest_per_prior(probs, prior)
    dense = rest[:, None] * prior
    dense[row, probs.indices] = probs.data
    return dense


def _rest_per_prior(probs: csr_array, prior: Floats) -> tuple[NDArray[Any], Floats]:
    """The row of each entry; and the rest of each row over the prior of its unlisted classes, (tasks,)."""
    T, K = probs.shape
    row = np.repeat(np.arange(T), np.diff(probs.indptr))
    rest = np.maximum(1 - sum_by(row, probs.data, T), 0)
    unlisted = np.where(np.diff(probs.indptr) < K, 1 - sum_by(row, prior[probs.indices], T), 0)
    return row, np.divide(rest, unlisted, out=np.zeros(T), where=unlisted > 0)
