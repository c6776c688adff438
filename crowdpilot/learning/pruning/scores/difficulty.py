"""Difficulty score: the negative difficulty of each task by GLAD, which needs no content."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from crowdpilot.aggregation import GLAD, NotConverged
from crowdpilot.arrays import Floats
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes

MAX_ITERATIONS = 50  # of GLAD, enough to rank tasks


@dataclass(frozen=True, kw_only=True)
class Difficulty(TaskScore):
    """Minus the difficulty 1 / β_i of a task in GLAD's model P(right) = sigmoid(α_j β_i)."""

    name = "difficulty"

    def score(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            difficulty = GLAD(max_iter=MAX_ITERATIONS).fit(votes).params.get("difficulty")
        voted = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
        unknown = np.full(len(votes.tasks), np.nan)
        return unknown if difficulty is None else np.where(voted, -difficulty, np.nan)
