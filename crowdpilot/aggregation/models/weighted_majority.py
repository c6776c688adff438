"""Weighted majority voting, with a fixed weight for each worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.sparse.candidates import majority_posterior, vote_shares
from crowdpilot.arrays import Floats
from crowdpilot.votes import Votes

Weights = Mapping[Any, float] | tuple[tuple[Any, float], ...]


@dataclass(frozen=True)
class WeightedMajority(Aggregator):
    """Every vote counts as much as the weight of its worker; the probability of a class is its share.

    P(k) is proportional to sum_j weights[j] * [vote_j = k]. With equal weights the label is that of
    majority voting. A task with no vote of any weight is uniform. The skill of a worker is the
    share of their labels that win.

    Parameters
    ----------
    weights
        A weight of 0 or more for workers by name, as a mapping or as pairs; 1 for all others.
        Kept as pairs in the order of the names, so that the settings can be compared.

    References
    ----------
    Littlestone and Warmuth, The weighted majority algorithm, Information and Computation 108(2),
    1994. https://doi.org/10.1006/inco.1994.1009

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1], ["x", "y", "z"], ["cat", "dog", "dog"])
    >>> WeightedMajority({"x": 3}).fit(votes).probs.tolist()
    [[0.6, 0.4]]
    """

    weights: Weights = ()

    name: ClassVar[str] = "weighted_majority"
    aliases: ClassVar[tuple[str, ...]] = ("wmv", "weighted_majority_vote", "weighted_majority_voting")
    supports_sparse: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("weight",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _as_pairs(self.weights))

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        weight = self._worker_weights(votes)
        value = weight[votes.worker]
        skill = expected_worker_accuracy(votes, majority_posterior(votes, value))
        return Aggregate(votes, vote_shares(votes, value), skill, {"weight": weight})

    def _worker_weights(self, votes: Votes) -> Floats:
        """The weight of each worker, (workers,)."""
        weights = dict(self.weights)
        codes = votes.index("workers", list(weights))
        if (codes < 0).any():
            unknown = list(weights)[int(np.argmax(codes < 0))]
            raise ValueError(f"a weight is given to {unknown!r}, which is not one of the workers")
        weight = np.ones(len(votes.workers))
        weight[codes] = list(weights.values())
        return weight


def _as_pairs(weights: Weights) -> tuple[tuple[Any, float], ...]:
    try:
        listed = weights.items() if isinstance(weights, Mapping) else weights
        pairs = sorted(((name, float(weight)) for name, weight in listed), key=lambda pair: str(pair[0]))
    except (TypeError, ValueError):
        raise ValueError(f"weights is {weights!r}, expected a number for each worker named") from None
    if len({str(name) for name, _ in pairs}) < len(pairs):
        raise ValueError("a worker is given two weights")
    for name, weight in pairs:
        if not 0 <= weight < np.inf:
            raise ValueError(f"the weight of worker {name!r} is {weight}, expected 0 or more")
    return tuple(pairs)
