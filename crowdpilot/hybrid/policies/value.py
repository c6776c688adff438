"""Ours: ask where a vote brings more than it costs, counting what the machine learns from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Policy, View
from crowdpilot.hybrid.value.look_ahead import look_ahead, per_cost, plan_ahead


@dataclass(frozen=True)
class Value(Policy):
    """Ask the kind of worker with the most loss saved for each unit of cost, while that is more than one.

    Parameters
    ----------
    ahead
        Votes that are looked ahead at most.
    plans
        Whether to value plans that may stop as votes come in (`plan_ahead`), or votes that are bought
        all at once (`look_ahead`), which asks less.
    training
        Whether a label is also worth what it teaches the machine.
    """

    ahead: int = 5
    plans: bool = True
    training: bool = True

    name: ClassVar[str] = "value"
    pilots: ClassVar[bool] = True

    def want(self, view: View) -> Floats:
        taught = view.training * (view.votes == 0) if self.training else np.zeros(len(view.probs))
        floors = [max(price - view.training, 0.0) for price in view.prices]
        look = plan_ahead if self.plans else look_ahead
        gains = np.stack(
            [
                look(view.probs, said, view.errors, floor=floor, ahead=self.ahead) + taught
                for said, floor in zip(view.said, floors, strict=True)
            ]
        )
        rate = per_cost(gains, view.prices)
        best = (rate >= rate.max(axis=0)) & (view.pending == 0)
        return np.where(best, rate - 1, NEVER)
