"""Pool of an audit: checks of its input (decisions, posteriors), and the `Bound` that an audit reports."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats
from crowdpilot.hybrid.costs import Costs
from crowdpilot.notebook_html import facts, panel


@dataclass(frozen=True)
class Bound:
    """Bounds at the confidence level of an audit, valid at any stopping time.

    Each number holds at this level by itself. The remaining cost is that after the checked items are
    corrected; it is None if experts err, who then correct some of them wrongly.
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

    def _repr_html_(self) -> str:
        known = {name.replace("_", " "): value for name, value in asdict(self).items() if value is not None}
        checked = f"{self.checked:,} of {self.items:,} items checked"
        return panel("Bound", f"{checked}: at most {100 * self.error_rate:.3g} % are wrong", facts(known))


def wrong_decisions(errors: Floats) -> NDArray[np.bool_]:
    """Which decisions are not the best for a class, (classes, decisions)."""
    worse: NDArray[np.bool_] = errors > errors.min(axis=1, keepdims=True)
    return worse


def of_decision(values: Floats, decided: Codes) -> Floats:
    """Of each row, (items, decisions), the value of its decision, (items,)."""
    selected: Floats = values[np.arange(len(decided)), decided]
    return selected


def check_pool(costs: Costs, decided: NDArray[Any], probs: Floats) -> None:
    """Raise ValueError if these are no decided items of which some could have a loss."""
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
