"""Majority voting: the most frequent label wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_accuracy
from crowdpilot.aggregation.sparse.candidates import majority_posterior
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class MajorityVoting(Aggregator):
    """The most frequent label of each task; tied labels divide the probability.

    References
    ----------
    James, Majority vote classifiers: theory and applications, PhD thesis, Stanford, 1998.

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1], ["x", "y", "z"], ["cat", "dog", "dog"])
    >>> MajorityVoting().fit(votes).labels.tolist()
    ['dog']
    """

    name: ClassVar[str] = "majority_voting"
    aliases: ClassVar[tuple[str, ...]] = ("mv", "majority_vote")
    supports_sparse: ClassVar[bool] = True

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        probs = majority_posterior(votes)
        return Aggregate(votes, probs, expected_accuracy(votes, probs))
