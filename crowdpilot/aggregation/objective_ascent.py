"""Objective ascent: settings and stopping rule of models whose iterations raise an objective, EM apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregator
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class ObjectiveAscent(Aggregator):
    """Iterate until the objective, which never falls, no longer rises.

    Parameters
    ----------
    prior
        Probability of each class; all equal if not given.
    max_iter
        Largest number of iterations.
    tol
        Stop when the objective rises by no more than this for each vote.
    """

    prior: tuple[float, ...] | None = field(default=None, kw_only=True)
    max_iter: int = field(default=500, kw_only=True)
    tol: float = field(default=1e-6, kw_only=True)

    warm_start: ClassVar[bool] = True

    def has_converged(self, votes: Votes, trace: list[float]) -> bool:
        """Whether the last iteration hardly raised the objective; `trace` holds it after each of them."""
        return len(trace) > 1 and trace[-1] - trace[-2] <= self.tol * len(votes)
