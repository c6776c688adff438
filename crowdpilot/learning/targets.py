"""From what the crowd believes to what a network is trained towards.

Equations are those of Krivosheev et al., Active hybrid classification, 2021.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crowdpilot.aggregation import Aggregate
from crowdpilot.arrays import Floats


def hard(result: Aggregate) -> Floats:
    """One for the label of each task, zero for the rest."""
    return np.eye(result.probs.shape[1])[result.codes]


def soft(result: Aggregate) -> Floats:
    """The probabilities themselves."""
    return result.probs


def smoothed(result: Aggregate, alpha: float = 0.1) -> Floats:
    """The label, with a share `alpha` of its weight spread over all classes (Eq. 4)."""
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha}, expected a share from 0 to 1")
    spread: Floats = (1 - alpha) * hard(result) + alpha / result.probs.shape[1]
    return spread


def shard(result: Aggregate) -> Floats:
    """The label alone, worth its probability: a task the crowd is unsure of counts less (Eq. 6)."""
    return hard(result) * result.probs


TARGETS: dict[str, Callable[..., Floats]] = {
    "hard": hard,
    "soft": soft,
    "smoothed": smoothed,
    "shard": shard,
}
