"""Probabilities of a classifier that a model takes beside the votes: found by task, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.votes import Votes

ClassifierProbs = ArrayLike | Mapping[Any, ArrayLike]

SUM_TOLERANCE = 1e-3  # of the probabilities of a task


def find_classifier_probs(votes: Votes, probs: ClassifierProbs) -> Floats:
    """The classifier's probabilities of the tasks, (tasks, classes); each row sums to one.

    Parameters
    ----------
    votes
        Whose tasks and classes they are about.
    probs
        (tasks, classes) in the order of the votes, or a mapping from each task to its row.

    Raises
    ------
    ValueError
        If a task has no row, the shape is another, or a row has a negative number or another sum.
    """
    found = np.asarray(_rows(votes, probs) if isinstance(probs, Mapping) else probs, np.float64)
    if found.shape != (shape := (len(votes.tasks), len(votes.classes))):
        raise ValueError(
            f"the classifier's probs have shape {found.shape}, expected (tasks, classes) {shape}"
        )
    if not (found >= 0).all() or (np.abs(found.sum(axis=1) - 1) > SUM_TOLERANCE).any():
        raise ValueError("the classifier's probs are not rows of numbers of 0 or more that sum to 1")
    return to_probs(found)


def _rows(votes: Votes, probs: Mapping[Any, ArrayLike]) -> list[ArrayLike]:
    by_name = {str(task): row for task, row in probs.items()}
    names = list(map(str, votes.tasks.tolist()))
    if missing := [name for name in names if name not in by_name]:
        raise ValueError(f"the classifier's probs have no row for task {missing[0]!r}")
    return [by_name[name] for name in names]
