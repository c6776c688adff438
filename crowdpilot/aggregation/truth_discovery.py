"""Truth discovery: the loop between labels from weighted votes and weights from errors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.aggregation.earlier_results import starting_probs, worker_history
from crowdpilot.arrays import Floats, share_best, to_probs
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class TruthDiscovery(Aggregator):
    """Alternate between the labels with most weight and the weights until the labels converge.

    Parameters
    ----------
    max_iter
        Largest number of iterations.
    """

    max_iter: int = field(default=100, kw_only=True)

    warm_start: ClassVar[bool] = True
    uses_history: ClassVar[bool] = True
    per_worker: ClassVar[tuple[str, ...]] = ("weight",)

    @abstractmethod
    def worker_weights(self, errors: Floats, vote_weight: Floats) -> Floats:
        """The positive weight of each worker, given the weight of their errors and of all their votes."""

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        truth = share_best(votes.shares() if start is None else starting_probs(votes, start))
        past_errors, vote_weight = worker_history(votes, history, "errors"), votes.worker_sum()
        total = vote_weight + worker_history(votes, history, "vote_weight")
        converged = False
        for _ in range(self.max_iter):
            errors = votes.worker_sum(1 - truth[votes.task, votes.label])
            weight = self.worker_weights(errors + past_errors, total)
            probs = votes.clamp(to_probs(votes.tally(weight[votes.worker])))
            last, truth = truth, share_best(probs)
            if converged := np.allclose(last, truth):
                break
        else:
            self.warn_not_converged(self.max_iter)
        params = {"weight": weight, "errors": errors, "vote_weight": vote_weight}
        return Aggregate(votes, probs, expected_worker_accuracy(votes, truth), params, converged=converged)


def expect_positive(model: Aggregator, *settings: str) -> None:
    """Refuse a model with one of these settings at zero or below."""
    for name in settings:
        if not 0 < (value := getattr(model, name)) < np.inf:
            raise ValueError(f"{name} of {model.name} is {value}, expected a number above 0")
