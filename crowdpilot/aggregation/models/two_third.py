"""Two-thirds rule: a label needs two thirds of at least two votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregate, Aggregator, expected_worker_accuracy
from crowdpilot.arrays import TIE, share_best
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class TwoThird(Aggregator):
    """A task is decided when at least two thirds of at least two votes agree, else left open.

    The rule says whether to trust a label, not what else it might be: `probs` are the shares of the
    votes for every task, `labels` their largest, and `params["decided"]` (tasks,) tells which of them
    the rule accepts. A task whose class is known is decided. The skill of a worker is the share of
    their labels that are the most frequent.

    Parameters
    ----------
    share
        The least share of the votes that decides.
    least
        The least number of votes, their weights added up.

    References
    ----------
    The rule of iNaturalist for observations of research grade, as compared in Lefort et al., 2024.
    https://arxiv.org/abs/2406.03356

    Examples
    --------
    >>> votes = Votes.of([1, 1, 1, 2, 2, 3], list("xyzxyx"), ["cat", "cat", "dog", "cat", "dog", "cat"])
    >>> TwoThird().fit(votes).params["decided"].tolist()
    [True, False, False]
    """

    share: float = 2 / 3
    least: float = 2.0

    name: ClassVar[str] = "two_third"
    aliases: ClassVar[tuple[str, ...]] = ("two_thirds",)
    per_task: ClassVar[tuple[str, ...]] = ("decided",)

    def run(self, votes: Votes, start: Aggregate | None, history: Aggregate | None) -> Aggregate:
        tally = votes.tally()
        total = tally.sum(axis=1)
        decided = (total > self.least - TIE) & (tally.max(axis=1) > self.share * total - TIE)
        if votes.gold is not None:
            decided |= votes.gold >= 0
        skill = expected_worker_accuracy(votes, votes.clamp(share_best(tally)))
        return Aggregate(votes, votes.shares(), skill, {"decided": decided})
