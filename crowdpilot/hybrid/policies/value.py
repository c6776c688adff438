"""Value policy (the default): ask while a vote reduces the expected loss by more than it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.hybrid.policy import NEVER, Policy, View
from crowdpilot.hybrid.value.vote_value import look_ahead, plan_ahead, value_per_cost


@dataclass(frozen=True)
class Value(Policy):
    """Ask the kind of worker with the largest fall of the loss per unit of cost, while that exceeds one.

    Parameters
    ----------
    ahead
        Maximum votes to look ahead.
    plans
        Whether to value sequential plans that may stop as votes come in (`plan_ahead`), or votes that
        are bought all at once (`look_ahead`), which asks less.
    training
        Whether the first label of an item also counts what the classifier learns from it.
    """

    ahead: int = 5
    plans: bool = True
    training: bool = True

    name: ClassVar[str] = "value"
    starts_with_pilot: ClassVar[bool] = True

    def acquisition_values(self, view: View) -> Floats:
        new = view.votes == 0
        training = view.training_value * new if self.training else np.zeros(len(new))
        floors = [max(price - view.training_value, 0.0) for price in view.prices]
        value_of = plan_ahead if self.plans else look_ahead
        gains = np.empty((len(view.prices), len(new)))
        for kind, (confusion, floor) in enumerate(zip(view.confusion, floors, strict=True)):
            expert = view.experts[kind]
            probs = view.posterior if expert else view.consensus
            errors = view.errors if expert else view.consensus_errors
            gains[kind] = value_of(probs, confusion, errors, floor=floor, ahead=self.ahead) + training
        rate = value_per_cost(gains, view.prices)
        best = (rate >= rate.max(axis=0)) & (view.pending == 0)
        return np.where(best, rate - 1, NEVER)
