"""Fast Dawid-Skene: hard EM, and its hybrid that starts with soft EM."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

from crowdpilot.aggregation.base import Aggregate
from crowdpilot.aggregation.em.backend import Backend, Params
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.aggregation.em.loop import apply_gold_
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import ROWS_PER_BLOCK, Floats, share_best, softmax_
from crowdpilot.votes import Votes


@dataclass(frozen=True)
class FastDawidSkene(DawidSkene):
    """Dawid and Skene's model fitted by hard EM.

    The E-step puts all probability of a task on the class k with the highest log prior[k] + sum_j log
    confusion[j, k, vote_j], divided between tied ones. It converges in few iterations. The posterior of
    the result is soft, from the final parameters.

    Parameters
    ----------
    hybrid
        Start with the soft EM of Dawid and Skene until it slows down, then go on with hard EM.

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
        settings = {f.name: getattr(self, f.name) for f in fields(DawidSkene)}
        soft = DawidSkene(**{**settings, "tol": 1e-3}).run(votes, None, history, backend)
        return super().run(votes, soft, history, backend)

    def normalize_(self, log_joint: Floats) -> float:
        total = 0.0
        for start in range(0, len(log_joint), ROWS_PER_BLOCK):
            rows = log_joint[start : start + ROWS_PER_BLOCK]
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
    """Soft EM of Dawid and Skene first, then the hard EM of fast Dawid-Skene.

    References
    ----------
    Sinha, Rao and Balasubramanian, Fast Dawid-Skene, 2018. https://arxiv.org/abs/1803.02781
    """

    hybrid: bool = True

    name: ClassVar[str] = "hybrid_dawid_skene"
    aliases: ClassVar[tuple[str, ...]] = ("h", "hybrid")
