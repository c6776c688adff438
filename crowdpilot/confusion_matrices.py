"""Between votes and confusion matrices: what votes say of classes, and what classes say of workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


def by_label(matrices: Floats) -> Floats:
    """Matrices of workers (workers, true, said) as a row for each label of each, (workers x said, true)."""
    said_first: Any = matrices.swapaxes(1, 2)
    if isinstance(said_first, np.ndarray):
        said_first = np.ascontiguousarray(said_first)
    rows: Floats = said_first.reshape(-1, matrices.shape[1])
    return rows


def by_worker(rows: Floats, classes: int) -> Floats:
    """The reverse of `by_label`: (workers, true, said)."""
    matrices: Floats = rows.reshape(-1, classes, rows.shape[1]).swapaxes(1, 2)
    return matrices


def count_labels(votes: Votes, probs: Floats) -> Floats:
    """How often each worker gave each label to tasks of each class, (workers, true, said).

    Tasks may be in any number of states instead of classes: whatever the columns of `probs` are.
    """
    return by_worker(votes.onehot.T @ probs, len(votes.classes))


def hear(votes: Votes, logs: Floats) -> Floats:
    """Sum over the votes of each task of their logs, (tasks, classes), for logs (workers, true, said)."""
    heard: Floats = votes.onehot @ by_label(logs)
    return heard
