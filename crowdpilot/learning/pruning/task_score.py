"""What a score of tasks is: one number for each, low where votes should not be learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Floats, hash_names
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.training.recipe import Recipe
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class Pruned:
    """What pruning leaves.

    Parameters
    ----------
    votes
        The votes on the tasks that were kept; the others are still listed, without votes.
    scores
        (tasks,); low ones are pruned.
    dropped
        The places of the tasks that were pruned, the lowest score first.
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
        The share of the tasks with votes that pruning leaves out.
    """

    name: ClassVar[str]
    alpha: float = 0.01

    def __post_init__(self) -> None:
        if not 0 <= self.alpha < 1:
            raise ValueError(f"alpha is {self.alpha}, expected a share of the tasks: at least 0, less than 1")

    def score(self, recipe: Recipe, rows: Rows, votes: Votes) -> Floats:
        """(tasks,); NaN where nothing can be said."""
        raise NotImplementedError

    def prune(self, recipe: Recipe, rows: Rows, votes: Votes) -> Pruned:
        """Score the tasks, and leave out the votes on the lowest ones."""
        scores = self.score(recipe, rows, votes)
        dropped = lowest(scores, votes, self.alpha)
        kept = np.ones(len(scores), bool)
        kept[dropped] = False
        return Pruned(votes.take(kept[votes.task]), scores, dropped)


def lowest(scores: Floats, votes: Votes, alpha: float) -> NDArray[np.intp]:
    """The tasks whose scores are below the quantile alpha, the lowest first.

    As many as if no two scores were equal; of equals the first by a hash of their names, so that
    neither their order nor their number of votes decides.
    """
    scored = np.flatnonzero(~np.isnan(scores))
    count = int(np.ceil(alpha * (len(scored) - 1) - 1e-9))
    order = np.lexsort((hash_names(votes.tasks[scored], 0), scores[scored]))
    return scored[order][: max(count, 0)]
