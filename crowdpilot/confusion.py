"""Between votes and confusion matrices: what votes say of classes, and what classes say of workers."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


def count_labels(votes: Votes, probs: Floats) -> Floats:
    """How often each worker gave each label to tasks of each class, (workers, true, said).

    Tasks may be in any number of states instead of classes: whatever the columns of `probs` are.
    """
    said: Floats = (votes.onehot.T @ probs).reshape(-1, len(votes.classes), probs.shape[1]).swapaxes(1, 2)
    return said


def hear(votes: Votes, logs: Floats) -> Floats:
    """Sum over the votes of each task of their logs, (tasks, classes), for logs (workers, true, said)."""
    heard: Floats = votes.onehot @ np.ascontiguousarray(logs.swapaxes(1, 2)).reshape(-1, logs.shape[1])
    return heard
