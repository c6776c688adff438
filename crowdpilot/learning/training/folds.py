"""Cross-validation folds of tasks: each fold is predicted by what is learned from all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from crowdpilot.arrays import Codes
from crowdpilot.votes import Votes


class Fold(NamedTuple):
    """Tasks that are held out, (tasks,), and the votes on all others."""

    held_out: Codes
    training: Votes


def assign_folds(votes: Votes, folds: int, seed: int = 0) -> Iterator[Fold]:
    """All tasks with votes, assigned to folds at random; a single fold is trained on all votes.

    There are no more folds than tasks.
    """
    voted = np.unique(votes.task)
    folds = min(folds, len(voted))
    fold = np.random.default_rng(seed).permutation(len(voted)) % max(folds, 1)
    for n in range(folds):
        tasks = voted[fold == n]
        yield Fold(tasks, votes if folds == 1 else _without(votes, tasks))


def _without(votes: Votes, tasks: Codes) -> Votes:
    """The votes, and the known classes, of all other tasks."""
    remains = np.ones(len(votes.tasks), bool)
    remains[tasks] = False
    gold = None if votes.gold is None else np.where(remains, votes.gold, -1)
    return replace(votes.take(remains[votes.task]), gold=gold)
