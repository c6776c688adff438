"""The share of each label among the votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from crowdpilot.aggregation.base import Aggregate, Aggregator, agreement
from crowdpilot.aggregation.em.backend import Machine
from crowdpilot.aggregation.sparse.candidates import vote_shares
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


@runtime_checkable
class Sharing(Machine, Protocol):
    """A machine that can count shares, too."""

    def shares(self, votes: Votes) -> Floats:
        """The share of each class among the votes of each task, gold where it is known."""


@dataclass(frozen=True)
class NaiveSoft(Aggregator):
    """The share of each class among the votes of a task is its probability.

    P(k) = sum_j [vote_j = k] / number of votes; uniform where nobody voted.

    The skill of a worker is the mean probability of the labels they gave.

    Parameters
    ----------
    seed
        Draws the lot between equals when one label must be named.

    References
    ----------
    Peterson, Battleday, Griffiths and Russakovsky, Human uncertainty makes classification more robust,
    ICCV 2019. https://arxiv.org/abs/1908.07086

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 1], ["w", "x", "y", "z"], ["cat", "dog", "dog", "dog"])
    >>> NaiveSoft().fit(votes).probs.tolist()
    [[0.25, 0.75]]
    """

    seed: int = 0

    name: ClassVar[str] = "naive_soft"
    aliases: ClassVar[tuple[str, ...]] = ("ns",)
    wide: ClassVar[bool] = True

    def run_on(
        self, on: Machine | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        if not isinstance(on, Sharing):
            return super().run_on(on, votes, start, history)
        probs = on.shares(votes)
        return Aggregate(votes, probs, agreement(votes, probs))

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        probs = vote_shares(votes)
        return Aggregate(votes, probs, agreement(votes, probs))
