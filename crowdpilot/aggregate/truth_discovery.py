"""The loop of truth discovery: the truth from weighted votes, the weights from the errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from crowdpilot.aggregate.aggregator import Aggregate, Aggregator, agreement, recall, shares, started
from crowdpilot.aggregate.em import NotConverged
from crowdpilot.arrays import Floats, share_best, to_probs
from crowdpilot.votes import Votes

Weigh = Callable[[Floats, Floats], Floats]  # errors and votes of each worker -> positive weights


def discover(
    votes: Votes, weigh: Weigh, max_iter: int, start: Aggregate | None, history: Aggregate | None
) -> Aggregate:
    """Alternate between the labels with most weight and the weights until the labels stand still."""
    truth = share_best(shares(votes) if start is None else started(votes, start))
    before, voted = recall(votes, history, "errors"), votes.worker_sum()
    total = voted + recall(votes, history, "voted")
    converged = False
    for _ in range(max_iter):
        errors = votes.worker_sum(1 - truth[votes.task, votes.label])
        weight = weigh(errors + before, total)
        probs = votes.clamp(to_probs(votes.tally(weight[votes.worker])))
        last, truth = truth, share_best(probs)
        if converged := np.allclose(last, truth):
            break
    else:
        warnings.warn(f"the labels did not settle in {max_iter} rounds", NotConverged, stacklevel=4)
    params = {"weight": weight, "errors": errors, "voted": voted}
    return Aggregate(votes, probs, agreement(votes, truth), params, converged=converged)


def expect_positive(model: Aggregator, *settings: str) -> None:
    """Refuse a model with one of these settings at zero or below."""
    for name in settings:
        if not 0 < (value := getattr(model, name)) < np.inf:
            raise ValueError(f"{name} of {model.name} is {value}, expected a number above 0")
