"""WDS: vote shares weighted by the diagonal of Dawid and Skene's confusion matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Params
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import Floats, to_probs
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class WDS(DawidSkene):
    """The share of each label among the votes, each weighted by its worker's accuracy on that class.

    P(k) is proportional to sum_j confusion[j, k, k] * [vote_j = k], with the confusion matrices of the
    Dawid-Skene model; uniform where nobody voted.

    Softer than Dawid and Skene's own probabilities, which are nearly certain after a few votes, and so
    better targets for training a classifier. All settings are those of Dawid-Skene; the objective and
    the skills are those of its fit.

    References
    ----------
    Lefort, Charlier, Joly and Salmon, Identify ambiguous tasks combining crowdsourced labels by
    weighting areas under the margin, 2022. https://arxiv.org/abs/2209.15380

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2], ["x", "y", "z", "x", "y"], ["cat", "cat", "dog", "dog", "dog"])
    >>> WDS().fit(votes).probs.round(2).tolist()
    [[0.68, 0.32], [0.0, 1.0]]
    """

    name: ClassVar[str] = "wds"
    aliases: ClassVar[tuple[str, ...]] = ("weighted_dawid_skene",)

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        fitted = super().to_result(votes, params, posterior)
        right = np.diagonal(fitted.params["confusion"], axis1=1, axis2=2)  # (workers, classes)
        tally = votes.tally(right[votes.worker, votes.label])
        return replace(fitted, posterior=votes.clamp(to_probs(tally)))
