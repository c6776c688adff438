"""One label for each task and worker: what the formats without rows can hold."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Codes
from crowdpilot.votes import Votes


def check_single(votes: Votes, format: str) -> None:
    """Raise if there is more than one label, or a weight, for a task and a worker."""
    if votes.weight is not None:
        raise ValueError(f"the votes have weights, which the format {format} cannot hold")
    pair = votes.task.astype(np.int64) * len(votes.workers) + votes.worker
    if len(np.unique(pair)) < len(pair):
        raise ValueError(f"a worker labels a task twice, which the format {format} cannot hold")


def label_matrix(votes: Votes, format: str) -> Codes:
    """Codes of the labels, dense (tasks, workers); -1 where there is no vote."""
    check_single(votes, format)
    said = np.full((len(votes.tasks), len(votes.workers)), -1, np.int32)
    said[votes.task, votes.worker] = votes.label
    return said
