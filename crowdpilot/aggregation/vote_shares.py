"""Shares of a whole crowd in place of votes: no model can learn from them what workers are like."""

from __future__ import annotations

import numpy as np

from crowdpilot.aggregation.base import Aggregator
from crowdpilot.aggregation.sparse.candidates import candidates
from crowdpilot.votes import Votes

PLAIN = ("naive_soft", "majority_voting")  # aggregators that take a vote for what it says


def are_shares(votes: Votes) -> bool:
    """Whether a single worker has given several labels to a task; see `from_shares`."""
    if len(votes.workers) != 1:
        return False
    found = candidates(votes)
    return bool((found.per_task((found.weight > 0).astype(np.float64)) > 1).any())


def check_shares(model: Aggregator, votes: Votes) -> None:
    """Refuse a model of workers for votes that are shares."""
    if model.name not in PLAIN and are_shares(votes):
        raise ValueError(
            f"{model.name} cannot learn what workers are like from the shares of a whole crowd; "
            f"choose {' or '.join(PLAIN)}"
        )
