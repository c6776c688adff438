"""What an audit is told of a pool, and what it says about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.costs import Costs


@dataclass(frozen=True)
class Bound:
    """What an audit can say for sure, or rather with confidence 1 - alpha, at whatever time.

    Each number holds with this confidence by itself. What remains is what is left once the checked items
    are put right; it is None if experts err, who then put some of them wrong.
    """

    items: int
    checked: int
    cost: float  # at most, per item of the pool
    cost_low: float  # at least
    total: float  # at most, of the pool
    error_rate: float
    error_rate_low: float
    remaining_cost: float | None
    remaining_total: float | None
    remaining_error_rate: float | None
    expert_error: float | None = None  # at most

    def to_dict(self) -> dict[str, float | int | None]:
        """Plain numbers by name."""
        return asdict(self)


def wrong_decisions(errors: Floats) -> NDArray[np.bool_]:
    """Which decisions are not the best for a class, (classes, decisions)."""
    worse: NDArray[np.bool_] = errors > errors.min(axis=1, keepdims=True)
    return worse


def pick(values: Floats, decided: Codes) -> Floats:
    """Of each row the value of its decision."""
    picked: Floats = values[np.arange(len(decided)), decided]
    return picked


def check_pool(costs: Costs, decided: NDArray[Any], probs: Floats) -> None:
    """Raise if these are no finished items of which some could have cost something."""
    classes, decisions = costs.errors.shape
    if decided.ndim != 1 or not len(decided) or decided.dtype.kind not in "iu":
        raise ValueError("the decisions are expected as one code for each item, for one item at least")
    if decided.min() < 0 or decided.max() >= decisions:
        raise ValueError(f"a decision is not the code of one of the {decisions} that the costs know")
    if probs.shape not in ((len(decided), classes), (len(decided),)):
        raise ValueError(
            f"the probabilities have shape {probs.shape}, expected {(len(decided), classes)} "
            f"or expected costs of shape {(len(decided),)}"
        )
    if not (np.isfinite(probs) & (probs >= 0)).all():
        raise ValueError("a probability or expected cost is negative or no number")
    if not costs.errors[:, decided].any():
        raise ValueError("no decision of the pool can cost anything, so there is nothing to audit")
