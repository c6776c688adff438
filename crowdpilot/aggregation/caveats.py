"""Caveats: what votes cannot tell about the accuracy of their labels, in plain sentences."""

from __future__ import annotations

import numpy as np

from crowdpilot.calibration.experience import GoldCheck
from crowdpilot.votes import Votes

FEW_OVERLAPS = 0.1  # share of tasks with votes of two workers below which there is little to compare


def find_caveats(votes: Votes, gold: GoldCheck | None) -> list[str]:
    """Sentences that a user should read before the labels, the most important first."""
    if len(votes) == 0:
        return ["There are no votes: nothing is known about any task."]
    found = []
    if gold is not None and gold.contradicts:
        found.append(
            f"The crowd contradicts its gold labels: {gold.right} of {gold.tasks} would be right, where "
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


def _share_of_tasks_with_two_workers(votes: Votes) -> float:
    merged = votes.merged
    pairs = np.unique(merged.task.astype(np.int64) * len(votes.workers) + merged.worker)
    counts = np.bincount(pairs // len(votes.workers), minlength=len(votes.tasks))
    return float((counts > 1).sum() / max((counts > 0).sum(), 1))
