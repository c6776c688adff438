"""Confusion matrices of workers: expected counts from votes, log-likelihood of votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


def by_label(matrices: Floats) -> Floats:
    """Confusion matrices (workers, true, said) as rows for the labels of workers, (workers x said, true)."""
    said_first: Any = matrices.swapaxes(1, 2)
    if isinstance(said_first, np.ndarray):
        said_first = np.ascontiguousarray(said_first)
    rows: Floats = said_first.reshape(-1, matrices.shape[1])
    return rows


def by_worker(rows: Floats, classes: int) -> Floats:
    """The inverse of `by_label`: (workers, true, said)."""
    matrices: Floats = rows.reshape(-1, classes, rows.shape[1]).swapaxes(1, 2)
    return matrices


def count_labels(votes: Votes, posterior: Floats) -> Floats:
    """Expected number of times each worker gave each label to tasks of each class, (workers, true, said).

    The columns of `posterior` may be any states of a task instead of classes.
    """
    return by_worker(votes.onehot.T @ posterior, len(votes.classes))


def votes_log_likelihood(votes: Votes, log_confusion: Floats) -> Floats:
    """Log P(votes | class) of each task, (tasks, classes); `log_confusion` is (workers, true, said)."""
    log_likelihood: Floats = votes.onehot @ by_label(log_confusion)
    return log_likelihood
