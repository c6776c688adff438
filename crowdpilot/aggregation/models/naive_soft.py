"""Naive soft: the share of each label among the votes of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.em.backend import Backend
from crowdpilot.aggregation.sparse.candidates import vote_shares
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes


@runtime_checkable
class VoteShareBackend(Backend, Protocol):
    """A backend that can compute vote shares, too."""

    def shares(self, votes: Votes) -> Floats:
        """The share of each class among the votes of each task, (tasks, classes); gold where it is known."""


@dataclass(frozen=True)
class NaiveSoft(Aggregator):
    """The share of each class among the votes of a task is its probability.

    P(k) = sum_j [vote_j = k] / number of votes; uniform where nobody voted.

    The skill of a worker is the mean probability of the labels they gave.

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

    name: ClassVar[str] = "naive_soft"
    aliases: ClassVar[tuple[str, ...]] = ("ns",)
    supports_sparse: ClassVar[bool] = True

    def run_on(
        self, backend: Backend | None, votes: Votes, start: Aggregate | None, history: Aggregate | None
    ) -> Aggregate:
        if not isinstance(backend, VoteShareBackend):
            return super().run_on(backend, votes, start, history)
        probs = backend.shares(votes)
        return Aggregate(votes, probs, expected_worker_accuracy(votes, probs))

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        probs = vote_shares(votes)
        return Aggregate(votes, probs, expected_worker_accuracy(votes, probs))
