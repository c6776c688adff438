"""Dawid and Skene's model with one class for each task in every round: hard EM."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Backend, Params
from crowdpilot.aggregation.em.in_memory_backend import IN_MEMORY
from crowdpilot.aggregation.em.loop import apply_gold_
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import BLOCK, Floats, share_best, softmax_
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class FastDawidSkene(DawidSkene):
    """Dawid and Skene's model where each task counts for its best class alone.

    Each round gives every task the class k with the highest log prior[k] + sum_j log
    confusion[j, k, vote_j]; equals share it. It settles in few rounds. The probabilities it gives
    back are soft, from the parameters of the last round.

    Parameters
    ----------
    hybrid
        Begin with the soft rounds of Dawid and Skene until they slow down, then go on hard.

    References
    ----------
    Sinha, Rao and Balasubramanian, Fast Dawid-Skene, 2018. https://arxiv.org/abs/1803.02781

    Examples
    --------
    >>> from crowdpilot.simulation import one_coin
    >>> votes, truth = one_coin(tasks=200, skill=[0.9, 0.9, 0.8, 0.7, 0.6], seed=0)
    >>> bool((FastDawidSkene().fit(votes).codes == truth).mean() > 0.9)
    True
    """

    hybrid: bool = False

    name: ClassVar[str] = "fast_dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("fds",)
    hard: ClassVar[bool] = True

    def run(
        self, votes: Votes, start: Aggregate | None, history: Aggregate | None, backend: Backend = IN_MEMORY
    ) -> Aggregate:
        if not self.hybrid or start is not None:
            return super().run(votes, start, history, backend)
        shared = {f.name: getattr(self, f.name) for f in fields(DawidSkene)}
        soft = DawidSkene(**{**shared, "tol": 1e-3}).run(votes, None, history, backend)
        return super().run(votes, soft, history, backend)

    def normalize_(self, joint: Floats) -> float:
        total = 0.0
        for start in range(0, len(joint), BLOCK):
            rows = joint[start : start + BLOCK]
            total += float(rows.max(axis=1).sum())
            rows[:] = share_best(rows)
        return total

    def to_result(self, votes: Votes, params: Params, posterior: Floats) -> Aggregate:
        soft = self.log_joint(votes, params)
        apply_gold_(votes, soft)
        softmax_(soft)
        return super().to_result(votes, params, soft)


@dataclass(frozen=True)
class HybridDawidSkene(FastDawidSkene):
    """Soft rounds of Dawid and Skene first, then the hard ones of fast Dawid-Skene.

    References
    ----------
    Sinha, Rao and Balasubramanian, Fast Dawid-Skene, 2018. https://arxiv.org/abs/1803.02781
    """

    hybrid: bool = True

    name: ClassVar[str] = "hybrid_dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("h", "hybrid")
