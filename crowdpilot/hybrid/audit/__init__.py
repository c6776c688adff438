"""Audit: experts check a sample of decided items, and a confidence sequence bounds the loss of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crowdpilot.aggregation.registry import as_result
from crowdpilot.hybrid.audit.expert_audit import Audit
from crowdpilot.hybrid.audit.pool import Bound
from crowdpilot.hybrid.campaign.decisions import Decisions
from crowdpilot.hybrid.costs import Costs
from crowdpilot.hybrid.costs_text import as_costs

__all__ = ["Audit", "Bound", "audit"]


def audit(
    result: Any,
    costs: Costs | str | Mapping[str, Any] | None = None,
    *,
    level: float = 0.95,
    planned: float | None = None,
    experts_err: bool = False,
    seed: int = 0,
) -> Audit:
    """An audit of labels or decisions: it draws the items that experts check, and bounds the cost of all.

    Parameters
    ----------
    result
        What a model or a campaign decided, or a posterior, an array (items, classes), from which the
        decisions with the least expected cost are taken; or votes of any other kind, which `auto` labels.
    costs
        Of errors, also as a text or a dict such as `fp=1,fn=5`; by default every error costs one.
    level, planned, experts_err, seed
        As in `Audit`.

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> from crowdpilot.aggregation import DawidSkene
    >>> votes, truth = one_coin(tasks=500, skill=[0.9, 0.8, 0.7, 0.7], seed=0)
    >>> checked = audit(DawidSkene().fit(votes), level=0.9)
    >>> items = checked.draw(100)
    >>> checked.add_answers(items, truth[items])
    >>> bool(checked.bound().error_rate < 0.3)
    True
    """
    if not isinstance(result, np.ndarray | Decisions):
        result = as_result(result)
    probs = np.asarray(result if isinstance(result, np.ndarray) else result.probs, np.float64)
    costs = Costs.equal(probs.shape[1]) if costs is None else as_costs(costs, probs.shape[1])
    decided = result.codes if isinstance(result, Decisions) else costs.decide(probs)
    return Audit(costs, decided, probs, level=level, seed=seed, planned=planned, experts_err=experts_err)
