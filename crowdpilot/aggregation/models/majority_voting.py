"""Majority voting: the most frequent label wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.sparse.candidates import majority_posterior, vote_shares
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class MajorityVoting(Aggregator):
    """The most frequent label of each task, with its share of the votes as probability.

    The skill of a worker is the share of their votes that agree with the label.

    References
    ----------
    James, Majority vote classifiers: theory and applications, PhD thesis, Stanford, 1998.

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1], ["x", "y", "z"], ["cat", "dog", "dog"])
    >>> result = MajorityVoting().fit(votes)
    >>> result.labels.tolist(), result.confidence.round(2).tolist()
    (['dog'], [0.67])
    """

    name: ClassVar[str] = "majority_voting"
    aliases: ClassVar[tuple[str, ...]] = ("mv", "majority", "majority_vote")
    supports_sparse: ClassVar[bool] = True

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        skill = expected_worker_accuracy(votes, majority_posterior(votes))
        return Aggregate(votes, vote_shares(votes), skill)
