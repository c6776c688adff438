"""Vote patterns: the distinct rows of vote counts and how many tasks have each, for measures of agreement."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from crowdpilot.arrays import Floats, Names, divide
from crowdpilot.votes import Votes


class VotePatterns(NamedTuple):
    """A row for each pattern, the numbers of votes for the classes; two votes or more come first."""

    counts: Any  # sparse (patterns, classes): votes
    shares: Any  # sparse, same shape: counts over the votes of the pattern
    voted: Floats  # (patterns,) votes, one at least
    equal: Floats  # (patterns,) share of the pairs of votes that are equal; zero if there is no pair
    tasks: Floats  # (patterns,) how many tasks have this pattern
    classes: Names

    @property
    def paired(self) -> NDArray[np.bool_]:
        """Whether a pattern has two votes or more, (patterns,)."""
        return self.voted > 1


def count_patterns(votes: Votes) -> VotePatterns:
    """The patterns of all tasks that have a vote; a vote of weight two counts as two votes."""
    check_whole(votes)
    shape = len(votes.tasks), len(votes.classes)
    counts = coo_array((votes.weights, (votes.task, votes.label)), shape).tocsr()
    counts.eliminate_zeros()
    rows, tasks = _distinct_rows(counts)
    counts = counts[rows]
    voted: Floats = counts.sum(axis=1)
    share = counts.data / np.repeat(voted, np.diff(counts.indptr))  # exactly 1 if all votes are equal
    shares = csr_array((share, counts.indices, counts.indptr), counts.shape)
    equal = (counts.power(2).sum(axis=1) - voted) / np.maximum(voted * (voted - 1), 1)
    return VotePatterns(counts, shares, voted, equal, tasks, votes.classes)


def check_whole(votes: Votes) -> None:
    """Raise if the weight of a vote is not a whole number."""
    if votes.weight is not None and (votes.weight % 1).any():
        fraction = votes.weight[votes.weight % 1 > 0][0]
        raise ValueError(f"a vote has the weight {fraction}, and agreement takes whole numbers only")


def chance_corrected(observed: Floats, chance: Floats) -> Floats:
    """(observed - chance) / (1 - chance), the form of every kappa; NaN if chance agreement is one."""
    return divide(observed - chance, 1 - chance)


def _distinct_rows(counts: Any) -> tuple[NDArray[np.intp], Floats]:
    """One row of each pattern that is not empty, and how many rows are equal to it.

    Rows are compared by two random projections of 64 bits: different ones collide once in 2^128 times.
    """
    random = np.random.default_rng(0).integers(2**64, size=(counts.shape[1], 2), dtype=np.uint64)
    hashes = counts.astype(np.uint64) @ random
    voted = counts.sum(axis=1)
    order = np.lexsort((*hashes.T, voted < 2))
    order = order[voted[order] > 0]
    new = (hashes[order[1:]] != hashes[order[:-1]]).any(axis=1)
    first = np.flatnonzero(np.r_[len(order) > 0, new])
    return order[first], np.diff(first, append=len(order)).astype(np.float64)
