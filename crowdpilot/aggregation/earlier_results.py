"""What an earlier result says of the tasks (warm start) and of the workers (history) of new votes."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.votes import Votes


def starting_probs(votes: Votes, start: Aggregate) -> Floats:
    """Probabilities of an earlier result for these tasks, (tasks, classes); vote shares of new ones."""
    columns = starting_classes(votes, start)
    rows = start.votes.index("tasks", votes.tasks)
    known = to_probs(start.rows(rows)[:, columns])
    return votes.clamp(np.where(rows[:, None] >= 0, known, votes.shares()))


def starting_classes(votes: Votes, start: Aggregate) -> Codes:
    """The code that each class has in an earlier result; an error if it does not know one."""
    columns = start.votes.index("classes", votes.classes)
    if (columns < 0).any():
        raise ValueError("the result to start at has other classes than the votes")
    return columns


def worker_history(votes: Votes, history: Aggregate | None, name: str) -> Floats:
    """Parameter `name` of an earlier result for these workers, (workers,); zero for workers new to it."""
    if history is None:
        return np.zeros(len(votes.workers))
    return align_workers(votes, history, history.params[name])


def align_workers(votes: Votes, history: Aggregate, old: Floats) -> Floats:
    """An array (workers, ...) of an earlier result for these workers; zero for workers new to it."""
    rows = history.votes.index("workers", votes.workers)
    aligned = np.zeros((len(rows), *old.shape[1:]))
    aligned[rows >= 0] = old[rows[rows >= 0]]
    return aligned
