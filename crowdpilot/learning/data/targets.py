"""Training targets from the posterior of an aggregator: soft, hard, label smoothing, sHard.

Equations are those of Krivosheev et al., Active hybrid classification, 2021.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats


def hard(result: Aggregate) -> Floats:
    """One-hot vectors of the labels, (tasks, classes)."""
    return np.eye(result.probs.shape[1])[result.codes]


def soft(result: Aggregate) -> Floats:
    """The posterior, (tasks, classes)."""
    return result.probs


def smoothed(result: Aggregate, alpha: float = 0.1) -> Floats:
    """Label smoothing, (1 - alpha) · hard + alpha / K (Eq. 4), (tasks, classes)."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha}, expected a share from 0 to 1")
    mixed: Floats = (1 - alpha) * hard(result) + alpha / result.probs.shape[1]
    return mixed


def shard(result: Aggregate) -> Floats:
    """sHard: the label weighted by its probability, so that uncertain tasks count less (Eq. 6)."""
    return hard(result) * result.probs


TARGETS: dict[str, Callable[..., Floats]] = {
    "hard": hard,
    "soft": soft,
    "smoothed": smoothed,
    "shard": shard,
}
