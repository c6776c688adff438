"""Simulated votes for the tasks of bundled data sets, whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdpilot.arrays import Codes, Floats, Names
from crowdpilot.names import to_names
from crowdpilot.simulation.assignment import assign
from crowdpilot.simulation.confusion_matrices import draw_labels
from crowdpilot.votes import Votes


def simulate_votes(
    tasks: Names,
    truth: Codes,
    classes: Sequence[str],
    confusability: Floats,
    *,
    workers: int,
    votes_per_task: int,
    seed: int,
) -> Votes:
    """Votes of workers of unequal skill, who mistake a class mostly for those that are like it.

    A worker is right with a probability drawn evenly between 0.55 and 0.95, the same for all classes;
    one in ten guesses. Some come far more often than others.

    Parameters
    ----------
    tasks, truth
        Their names, and the code of the class of each.
    classes
        The names of the classes.
    confusability
        (true, said); how often a mistaken worker takes one class for another. Rows sum to one.
    workers, votes_per_task
        How many there are, and how many of them judge each task.
    seed
        Seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    K = len(classes)
    skill = rng.uniform(0.55, 0.95, workers)
    confusion = skill[:, None, None] * np.eye(K) + (1 - skill)[:, None, None] * confusability
    confusion[: workers // 10] = 1 / K
    confusion = rng.permutation(confusion)
    popularity = -np.log1p(rng.permutation(workers))
    worker = assign(len(tasks), votes_per_task, popularity, None, rng).reshape(-1)
    task = np.repeat(np.arange(len(tasks), dtype=np.int32), votes_per_task)
    label = draw_labels(confusion, worker, truth[task], rng)
    return Votes(task, worker, label, tasks, np.arange(workers), to_names(classes))
