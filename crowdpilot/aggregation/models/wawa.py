"""Worker agreement with aggregate: those who agree with the majority count for more."""

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


class Record(NamedTuple):
    """How much of what each worker said was agreed to, and how much they said; (workers,) each."""

    agreed: Floats
    given: Floats

    def plus(self, other: Record) -> Record:
        """Both records together."""
        return Record(self.agreed + other.agreed, self.given + other.given)

    def rate(self, unknown: float | Floats = np.nan) -> Floats:
        """How often each worker is agreed with; `unknown` for one who said nothing."""
        out = np.array(np.broadcast_to(unknown, self.given.shape), np.float64)
        rate: Floats = np.divide(self.agreed, self.given, out=out, where=self.given > 0)
        return rate


@dataclass(frozen=True)
class Wawa(Aggregator):
    """Weigh each worker by how often they agree with the majority, then vote again.

    skill[j] = mean over the votes of j of [vote = majority]; P(k) is proportional to
    sum_j skill[j] * [vote_j = k].

    A tied majority is agreed with in part, and the known class of a task stands for its majority.

    Parameters
    ----------
    seed
        Of the hash that breaks ties between classes.

    References
    ----------
    Ustalov, Pavlichenko and Tseitlin, Learning from crowds with Crowd-Kit, Journal of Open Source
    Software 9(96), 2024. https://doi.org/10.21105/joss.06227

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2], ["x", "y", "z", "x", "z"], ["cat", "cat", "dog", "cat", "dog"])
    >>> result = Wawa().fit(votes)
    >>> result.skill.tolist()
    [0.75, 1.0, 0.25]
    >>> result.probs[1].tolist()
    [0.75, 0.25]
    """

    seed: int = 0

    name: ClassVar[str] = "wawa"
    aliases: ClassVar[tuple[str, ...]] = ("worker_agreement_with_aggregate",)
    uses_history: ClassVar[bool] = True
    supports_sparse: ClassVar[bool] = True

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        own = record(votes, majority_posterior(votes))
        skill = own.plus(remember(votes, history)).rate()
        probs = vote_shares(votes, skill[votes.worker])
        return Aggregate(votes, probs, skill, own._asdict())


def record(votes: Votes, probs: Posterior) -> Record:
    """How much each worker agrees with these probabilities."""
    return Record(votes.worker_sum(probability_of(probs, votes.task, votes.label)), votes.worker_sum())


def remember(votes: Votes, history: Aggregate | None) -> Record:
    """What an earlier result recorded of these workers; zero for those that are new to it."""
    return Record(*(worker_history(votes, history, name) for name in Record._fields))
