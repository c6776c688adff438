"""Caveats: what votes cannot tell about the accuracy of their labels, in plain sentences."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import TIE, pair
from crowdpilot.calibration.experience import GoldCheck
from crowdpilot.votes import Votes

FEW_OVERLAPS = 0.1  # share of tasks with votes of two workers below which there is little to compare


def find_caveats(votes: Votes, gold: GoldCheck | None) -> list[str]:
    """Sentences that a user should read before the labels, the most important first."""
    if len(votes) == 0:
        return ["There are no votes: nothing is known about any task."]
    found = []
    if gold is not None:
        right = min(gold.right, _majority_right(votes))
        if right < gold.expected.low * gold.tasks:
            found.append(
                f"The crowd contradicts its gold labels: {right} of {gold.tasks} would be right, where "
                f"{gold.expected.low:.0%} or more was expected; check the gold labels and the workers."
            )
    if len(np.unique(votes.label)) == 1:
        found.append("All votes are for one class: nobody can tell whether anybody looked.")
    if len(np.unique(votes.worker)) == 1:
        found.append("All votes come from one worker: only gold labels can tell how good they are.")
    else:
        overlap = _share_of_tasks_with_two_workers(votes)
        if overlap == 0:
            found.append("No task has votes of two workers: only gold labels can tell how good they are.")
        elif overlap < FEW_OVERLAPS:
            found.append(
                f"Only {overlap:.0%} of the tasks have votes of two workers: their quality is uncertain."
            )
    return found


def _majority_right(votes: Votes) -> int:
    """Number of gold tasks whose gold label has as many votes as any other, and some.

    Models with confusion matrices may explain any gold labels, even those that contradict most votes.
    """
    if votes.gold is None:
        return 0
    known = np.flatnonzero(votes.gold >= 0)
    some = votes.merged.select(tasks=known)
    cells = pair(some.task, some.label, (len(known), len(votes.classes)))
    keys, cell = np.unique(cells, return_inverse=True)
    weight = np.bincount(cell, some.weights)
    task = keys // len(votes.classes)
    most = np.zeros(len(known))
    np.maximum.at(most, task, weight)
    of_gold = keys % len(votes.classes) == votes.gold[known][task]
    return int((weight >= most[task] - TIE)[of_gold].sum())


def _share_of_tasks_with_two_workers(votes: Votes) -> float:
    merged = votes.merged
    pairs = np.unique(merged.task.astype(np.int64) * len(votes.workers) + merged.worker)
    counts = np.bincount(pairs // len(votes.workers), minlength=len(votes.tasks))
    return float((counts > 1).sum() / max((counts > 0).sum(), 1))
