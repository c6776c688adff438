"""Tasks dealt to parts: what is said of each part is learned from all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from crowdpilot.arrays import Codes
from crowdpilot.votes import Votes


class Fold(NamedTuple):
    """Tasks that are held out, and the votes on all others."""

    tasks: Codes
    seen: Votes


def deal(votes: Votes, folds: int, seed: int) -> Iterator[Fold]:
    """All tasks with votes, dealt to folds at random; a single fold sees all votes.

    There are no more folds than tasks.
    """
    voted = np.unique(votes.task)
    folds = min(folds, len(voted))
    part = np.random.default_rng(seed).permutation(len(voted)) % max(folds, 1)
    for n in range(folds):
        tasks = voted[part == n]
        yield Fold(tasks, votes if folds == 1 else _without(votes, tasks))


def _without(votes: Votes, tasks: Codes) -> Votes:
    """The votes, and the known classes, of all other tasks."""
    kept = np.ones(len(votes.tasks), bool)
    kept[tasks] = False
    gold = None if votes.gold is None else np.where(kept, votes.gold, -1)
    return replace(votes.take(kept[votes.task]), gold=gold)
