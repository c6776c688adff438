"""Entropy score: the negative entropy of the votes on each task, which needs no content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.pruning.task_score import TaskScore
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.votes import Votes


@dataclass(frozen=True, kw_only=True)
class Entropy(TaskScore):
    """Σ_k s_k log s_k of the label shares s of a task: lowest where the votes disagree most."""

    name = "entropy"

    def score(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Floats:
        share = to_probs(votes.tally())
        voted = np.bincount(votes.task, minlength=len(votes.tasks)) > 0
        scores: Floats = np.where(voted, xlogy(share, share).sum(axis=1), np.nan)
        return scores
