"""Tasks by the votes they have: all that a measure of agreement needs to know."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from crowdpilot.arrays import Floats, Names, divide
from crowdpilot.votes import Votes


class Tallies(NamedTuple):
    """Each row is a kind of task, by its votes; kinds with two votes or more come first."""

    counts: Any  # sparse (kinds, classes): votes
    shares: Any  # sparse, same shape: counts over the votes of the kind
    voted: Floats  # (kinds,) votes, one at least
    equal: Floats  # (kinds,) share of the pairs of votes that are equal; zero if there is no pair
    tasks: Floats  # (kinds,) how many tasks are of this kind
    classes: Names

    @property
    def paired(self) -> NDArray[np.bool_]:
        """Whether a kind has two votes or more, (kinds,)."""
        return self.voted > 1


def to_tallies(votes: Votes) -> Tallies:
    """The kinds of tasks that have a vote; a vote of weight two counts as two votes."""
    check_whole(votes)
    shape = len(votes.tasks), len(votes.classes)
    counts = coo_array((votes.weights, (votes.task, votes.label)), shape).tocsr()
    counts.eliminate_zeros()
    rows, tasks = _find_kinds(counts)
    counts = counts[rows]
    voted: Floats = counts.sum(axis=1)
    share = counts.data / np.repeat(voted, np.diff(counts.indptr))  # exactly 1 if all votes are equal
    shares = csr_array((share, counts.indices, counts.indptr), counts.shape)
    equal = (counts.power(2).sum(axis=1) - voted) / np.maximum(voted * (voted - 1), 1)
    return Tallies(counts, shares, voted, equal, tasks, votes.classes)


def check_whole(votes: Votes) -> None:
    """Raise if a vote counts otherwise than a whole number of times."""
    if votes.weight is not None and (votes.weight % 1).any():
        found = votes.weight[votes.weight % 1 > 0][0]
        raise ValueError(f"a vote has the weight {found}, and agreement takes whole numbers only")


def beyond_chance(agreed: Floats, chance: Floats) -> Floats:
    """How much of the agreement that chance leaves is reached; NaN if it leaves none."""
    return divide(agreed - chance, 1 - chance)


def _find_kinds(counts: Any) -> tuple[NDArray[np.intp], Floats]:
    """One row of each kind that is not empty, and how many rows are equal to it.

    Rows are equal if two random sums of 64 bits are: others are so once in 2^128 times.
    """
    random = np.random.default_rng(0).integers(2**64, size=(counts.shape[1], 2), dtype=np.uint64)
    sums = counts.astype(np.uint64) @ random
    voted = counts.sum(axis=1)
    order = np.lexsort((*sums.T, voted < 2))
    order = order[voted[order] > 0]
    new = (sums[order[1:]] != sums[order[:-1]]).any(axis=1)
    first = np.flatnonzero(np.r_[len(order) > 0, new])
    return order[first], np.diff(first, append=len(order)).astype(np.float64)
