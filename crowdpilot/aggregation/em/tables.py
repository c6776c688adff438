"""EM models whose log-likelihood is a table: a row for each label of each worker."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation.em.backend import Params, Stats, Table
from crowdpilot.aggregation.em.loop import EM
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class TableEM(EM):
    """EM where log P(state, votes) of a task is a sum of rows of a table, one for each vote.

    The expected counts have the shape of the table, so that an E-step is two sparse products with it;
    for large fits both become one compiled pass over the votes (`numba_kernels`).
    """

    hard: ClassVar[bool] = False  # whether the E-step puts all probability on the most probable state

    @abstractmethod
    def table(self, params: Params) -> Table:
        """The parameters as a table."""

    @abstractmethod
    def counts_from_table(self, states: Floats, table: Floats) -> Stats:
        """Expected counts, from those of states (states,) and of the rows (workers x classes, states)."""

    def log_joint(self, votes: Votes, params: Params) -> Floats:
        table = self.table(params)
        log_joint: Floats = votes.onehot @ table.log_likelihood
        log_joint += table.log_prior
        return log_joint

    def expected_counts(self, votes: Votes, posterior: Floats) -> Stats:
        return self.counts_from_table(posterior.sum(axis=0), votes.onehot.T @ posterior)
