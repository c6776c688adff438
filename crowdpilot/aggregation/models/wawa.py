"""Wawa, worker agreement with aggregate: votes weighted by agreement with the majority."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.earlier_results import worker_history
from crowdpilot.aggregation.sparse.candidates import majority_posterior, vote_shares
from crowdpilot.aggregation.sparse.posterior import Posterior, probability_of
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


class Agreement(NamedTuple):
    """Weight of the votes of each worker that agree with a consensus, and of all their votes."""

    agreed: Floats  # (workers,)
    vote_weight: Floats  # (workers,)

    def plus(self, other: Agreement) -> Agreement:
        """The sum of both."""
        return Agreement(self.agreed + other.agreed, self.vote_weight + other.vote_weight)

    def rate(self, unknown: float | Floats = np.nan) -> Floats:
        """Share of the votes of each worker that agree, (workers,); `unknown` for one without votes."""
        out = np.array(np.broadcast_to(unknown, self.vote_weight.shape), np.float64)
        rate: Floats = np.divide(self.agreed, self.vote_weight, out=out, where=self.vote_weight > 0)
        return rate


@dataclass(frozen=True)
class Wawa(Aggregator):
    """Weight each worker by how often they agree with the majority, then vote again.

    skill[j] = mean over the votes of j of [vote = majority]; P(k) is proportional to
    sum_j skill[j] * [vote_j = k].

    A vote for one of several tied classes agrees in part; the known class of a task is its majority.

    References
    ----------
    Ustalov, Pavlichenko and Tseitlin, Crowd-Kit, JOSS 9(96), 2024. https://doi.org/10.21105/joss.06227

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2], ["x", "y", "z", "x", "z"], ["cat", "cat", "dog", "cat", "dog"])
    >>> result = Wawa().fit(votes)
    >>> result.skill.tolist()
    [0.75, 1.0, 0.25]
    >>> result.probs[1].tolist()
    [0.75, 0.25]
    """

    name: ClassVar[str] = "wawa"
    aliases: ClassVar[tuple[str, ...]] = ("worker_agreement_with_aggregate",)
    uses_history: ClassVar[bool] = True
    supports_sparse: ClassVar[bool] = True

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        own = measure_agreement(votes, majority_posterior(votes))
        skill = own.plus(history_agreement(votes, history)).rate()
        probs = vote_shares(votes, skill[votes.worker])
        return Aggregate(votes, probs, skill, own._asdict())


def measure_agreement(votes: Votes, probs: Posterior) -> Agreement:
    """Agreement of each worker with these class probabilities of the tasks."""
    return Agreement(votes.worker_sum(probability_of(probs, votes.task, votes.label)), votes.worker_sum())


def history_agreement(votes: Votes, history: Aggregate | None) -> Agreement:
    """Agreement of these workers in an earlier result; zero for workers new to it."""
    return Agreement(*(worker_history(votes, history, name) for name in Agreement._fields))
