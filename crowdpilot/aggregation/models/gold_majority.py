"""Gold majority: votes weighted by the accuracy of workers on gold tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from crowdpilot.aggregation.base import Aggregate, Aggregator
from crowdpilot.aggregation.models.wawa import Agreement, history_agreement, measure_agreement
from crowdpilot.arrays import Floats, to_probs
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class GoldMajority(Aggregator):
    """The majority, each worker weighted by their accuracy on the tasks with a gold label.

    skill[j] = (right[j] + smoothing mean) / (seen[j] + smoothing), where `seen` counts the votes of j on
    gold tasks, `right` those that are true, and `mean` is the accuracy of all votes on gold tasks; P(k) is
    proportional to sum_j skill[j] * [vote_j = k].

    A worker without votes on gold tasks has the mean accuracy.

    Parameters
    ----------
    smoothing
        Pseudo-count of gold votes of each worker, with the mean accuracy: accuracies are shrunk to the
        mean by that many votes. 0 is the plain accuracy.

    References
    ----------
    Ustalov, Pavlichenko and Tseitlin, Crowd-Kit, JOSS 9(96), 2024. https://doi.org/10.21105/joss.06227

    Examples
    --------
    >>> votes = Votes.of([1, 1, 2, 2], list("xyxy"), ["cat", "dog", "cat", "dog"], gold={1: "cat"})
    >>> result = GoldMajority().fit(votes)
    >>> result.skill.tolist(), result.probs[1].tolist()
    ([0.75, 0.25], [0.75, 0.25])
    """

    smoothing: float = 1.0

    name: ClassVar[str] = "gold_majority"
    aliases: ClassVar[tuple[str, ...]] = ("gold_majority_vote", "gold_majority_voting")
    uses_history: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing < np.inf:
            raise ValueError(f"the smoothing of gold_majority is {self.smoothing}, expected 0 or more")

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        own = _gold_agreement(votes)
        total = own.plus(history_agreement(votes, history))
        if not total.vote_weight.any():
            raise ValueError("gold_majority needs votes on tasks with a gold label, and there are none")
        mean = float(total.agreed.sum() / total.vote_weight.sum())
        skill = Agreement(total.agreed + self.smoothing * mean, total.vote_weight + self.smoothing).rate(mean)
        probs = votes.clamp(to_probs(votes.tally(skill[votes.worker])))
        known = votes.worker_sum() + total.vote_weight > 0
        return Aggregate(votes, probs, np.where(known, skill, np.nan), own._asdict())


def _gold_agreement(votes: Votes) -> Agreement:
    """Agreement of each worker with the gold labels, of votes on gold tasks alone."""
    known = np.full(len(votes.tasks), -1) if votes.gold is None else votes.gold
    truth: Floats = votes.clamp(np.zeros((len(votes.tasks), len(votes.classes))))
    return measure_agreement(votes.take(known[votes.task] >= 0), truth)
