"""Models whose votes add up rows of a table: a row for each label of each worker."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar, NamedTuple

from crowdpilot.aggregation.em.backend import MANY, Params, Place, Stats
from crowdpilot.aggregation.em.loop import EM
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


class Table(NamedTuple):
    """What votes say of tasks, in logs."""

    said: Floats  # (workers x classes, states): of a label of a worker, were the task in each state
    start: Floats  # (states,): of the states


@dataclass(frozen=True)
class Tabled(EM):
    """EM where log P(state, votes) is the sum of the rows of a table, one for each vote.

    Their counts have the shape of the table, so that a round is two sparse products with it; where
    votes are many, both become one pass over the votes (see `kernels`).
    """

    hard: ClassVar[bool] = False  # each task counts for its best class alone

    @abstractmethod
    def table(self, params: Params) -> Table:
        """The parameters as a table."""

    @abstractmethod
    def gather(self, seen: Floats, said: Floats) -> Stats:
        """The counts of the model, from those of states (states,) and of the rows of the table."""

    def joint(self, votes: Votes, params: Params) -> Floats:
        table = self.table(params)
        joint: Floats = votes.onehot @ table.said
        joint += table.start
        return joint

    @property
    def compiled(self) -> bool:
        """Whether its rounds can be one compiled pass here."""
        return self.divisible and find_spec("numba") is not None

    def here(self, votes: Votes, probs: Floats, threads: int) -> Place:
        if len(votes) < MANY or not self.compiled:
            return super().here(votes, probs, threads)
        from crowdpilot.aggregation.em.compiled import Fused  # numba takes half a second to load

        return Fused(votes, probs, threads)

    def count(self, votes: Votes, belief: Floats) -> Stats:
        return self.gather(belief.sum(axis=0), votes.onehot.T @ belief)
