"""Caveats: what votes cannot tell about the accuracy of their labels, in plain sentences."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr

from crowdpilot.arrays import TIE, Codes, pair
from crowdpilot.calibration.experience import GoldCheck
from crowdpilot.votes import Votes

FEW_OVERLAPS = 0.1  # share of tasks with votes of two workers below which there is little to compare
MIN_OPPOSED_SHARE = 0.2  # of the votes, from workers who contradict the labels; in real crowds up to 0.15
MIN_GOLD_ERRORS = 3  # of a worker, from which gold labels have told that the worker is bad
OPPOSED_LEVEL = 0.001  # p-value of fewer votes for the labels than by chance
MIN_WRONG_SHARE = 0.1  # of the votes on gold tasks, from workers who contradict gold; in real crowds 0
WRONG_LEVEL = 0.02  # p-value of fewer right votes on gold tasks than by chance


def find_caveats(votes: Votes, gold: GoldCheck | None, labels: Codes | None = None) -> list[str]:
    """Sentences that a user should read before the labels, the most important first.

    `labels` of the tasks, (tasks,), if known, tell whether some workers say the opposite of the others.
    """
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
        elif wrong := _workers_against_gold(votes):
            found.append(
                f"{wrong} of {len(np.unique(votes.worker))} workers contradict the gold labels: they are "
                "right less often than by chance; check the gold labels and these workers."
            )
    if labels is not None and (opposed := _opposed_workers(votes, labels)):
        found.append(
            f"{opposed} of {len(np.unique(votes.worker))} workers say the opposite of the labels more often "
            "than by chance: either they or the others answer inversely, and only gold labels can tell."
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


def _workers_against_gold(votes: Votes) -> int:
    """Number of workers who are right on gold tasks less often than by chance; 0 if their votes are few."""
    if votes.gold is None:
        return 0
    W, on_gold = len(votes.workers), votes.gold[votes.task] >= 0
    n = np.bincount(votes.worker[on_gold], minlength=W)
    right = np.bincount(votes.worker[on_gold], (votes.label == votes.gold[votes.task])[on_gold], W)
    wrong = (n > 0) & (bdtr(right, n, 1 / max(len(votes.classes), 2)) < WRONG_LEVEL)
    return int(wrong.sum()) if n[wrong].sum() >= MIN_WRONG_SHARE * n.sum() else 0


def _opposed_workers(votes: Votes, labels: Codes) -> int:
    """Number of workers who give the label of tasks less often than by chance; 0 if their votes are few.

    Workers who are known to be wrong on gold tasks are not counted: gold labels have told.
    """
    K, W = len(votes.classes), len(votes.workers)
    if K < 2:
        return 0
    n = np.bincount(votes.worker, minlength=W)
    same = np.bincount(votes.worker, votes.label == labels[votes.task], W)
    opposed = (n > 0) & (bdtr(same, n, 1 / K) < OPPOSED_LEVEL)
    if votes.gold is not None:
        on_gold = votes.gold[votes.task] >= 0
        wrong = np.bincount(votes.worker[on_gold], (votes.label != votes.gold[votes.task])[on_gold], W)
        opposed &= wrong < MIN_GOLD_ERRORS
    return int(opposed.sum()) if n[opposed].sum() >= MIN_OPPOSED_SHARE * len(votes) else 0


def _share_of_tasks_with_two_workers(votes: Votes) -> float:
    merged = votes.merged
    pairs = np.unique(merged.task.astype(np.int64) * len(votes.workers) + merged.worker)
    counts = np.bincount(pairs // len(votes.workers), minlength=len(votes.tasks))
    return float((counts > 1).sum() / max((counts > 0).sum(), 1))
