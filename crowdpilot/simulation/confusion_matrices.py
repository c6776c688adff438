"""Confusion matrices of simulated workers: drawn, read from a file, and labels drawn by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.random import Generator

from crowdpilot.arrays import ROWS_PER_BLOCK, Codes, Floats


def draw_matrices(workers: int, K: int, concentration: float, rng: Generator) -> Floats:
    """Matrices with rows from a symmetric Dirichlet law, (workers, true, said)."""
    return rng.dirichlet(np.full(K, concentration), (workers, K))


def favour_diagonal(matrices: Floats) -> Floats:
    """The same matrices with the largest value of each row swapped onto the diagonal."""
    swapped = matrices.copy()
    worker, k = np.indices(matrices.shape[:2])
    best = matrices.argmax(axis=2)
    swapped[worker, k, best] = matrices[worker, k, k]
    swapped[worker, k, k] = matrices.max(axis=2)
    return swapped


def read_matrices(file: str | Path, workers: int, K: int) -> Floats:
    """The first matrices of a `.npy` file that holds at least so many."""
    try:
        matrices = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{file} cannot be read as an array of numpy (.npy): {error}") from error
    found, expected = np.shape(matrices), f"({workers}, {K}, {K})"
    if len(found) != 3 or found[0] < workers or found[1:] != (K, K):
        raise ValueError(f"{file} holds an array of shape {found}, expected {expected} or more workers")
    chosen: Floats = np.asarray(matrices[:workers], np.float64)
    if not ((chosen >= 0).all() and np.allclose(chosen.sum(axis=2), 1, atol=1e-6)):
        raise ValueError(f"{file} holds a matrix whose rows are not probabilities that sum to 1")
    return chosen


def draw_labels(confusion: Floats, worker: Codes, truth: Codes, rng: Generator) -> Codes:
    """What each worker says of a task of each class: where a random number falls among cumulated rows."""
    K = confusion.shape[1]
    edges = confusion.reshape(-1, K).cumsum(axis=1)[:, :-1]
    row = worker.astype(np.int64) * K + truth
    label = np.empty(len(row), np.int32)
    for start in range(0, len(row), ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        draw = rng.random(len(row[rows]))
        label[rows] = (draw[:, None] >= edges[row[rows]]).sum(axis=1)
    return label
