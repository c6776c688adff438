"""TaskScore: the base of scores that are low for ambiguous tasks, and the pruning of the lowest ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.names import hash_names
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class Pruned:
    """The votes that remain after pruning.

    Parameters
    ----------
    votes
        The votes on the remaining tasks; the others are still listed, without votes.
    scores
        (tasks,); low ones are pruned.
    dropped
        The indices of the tasks that were pruned, the lowest score first.
    """

    votes: Votes
    scores: Floats
    dropped: NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class TaskScore:
    """A number for each task, low if it is ambiguous or its votes are wrong.

    Parameters
    ----------
    alpha
        The share of the tasks with votes that pruning removes.
    """

    name: ClassVar[str]
    alpha: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.alpha < 1:
            raise ValueError(f"alpha is {self.alpha}, expected a share of the tasks: at least 0, less than 1")

    def score(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Floats:
        """(tasks,); NaN for a task that cannot be scored."""
        raise NotImplementedError

    def prune(self, procedure: TrainingProcedure, rows: Rows, votes: Votes) -> Pruned:
        """Score the tasks, and remove the votes on the lowest ones."""
        scores = self.score(procedure, rows, votes)
        dropped = lowest_scores(scores, votes, self.alpha)
        remains = np.ones(len(scores), bool)
        remains[dropped] = False
        return Pruned(votes.take(remains[votes.task]), scores, dropped)


def lowest_scores(scores: Floats, votes: Votes, alpha: float) -> NDArray[np.intp]:
    """The indices of the tasks with scores below the quantile alpha, the lowest first.

    As many as if no two scores were equal: ties are broken by a seeded hash of the task names, so that
    neither their order nor their number of votes matters.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    count = int(np.ceil(alpha * (len(scored) - 1) - 1e-9))
    order = np.lexsort((hash_names(votes.tasks[scored], 0), scores[scored]))
    return scored[order][: max(count, 0)]
