"""First an aggregator, then a classifier trained towards what it says."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from crowdpilot.aggregation import parse_strategy
from crowdpilot.aggregation.vote_shares import check_shares
from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method
from crowdpilot.learning.targets import TARGETS
from crowdpilot.votes import Votes


class TwoStage(Method):
    """Cross-entropy to targets that any aggregator makes of the votes.

    Parameters
    ----------
    labels
        The aggregator, such as "dawid_skene" or "glad[max_iter=20]".
    targets
        "soft", the probabilities; "hard", the most probable label; "smoothed", that label with a
        share of its weight spread over all classes; or "shard", that label worth its probability.
    alpha
        The share that "smoothed" spreads; a tenth if not given.

    References
    ----------
    Sayin et al., Crowd-powered hybrid classification services, ICWS 2021: soft and sHard targets.
    https://doi.org/10.1109/ICWS53863.2021.00019
    """

    name = "two_stage"
    aliases = ("aggregate", "train")
    of_tasks = ("target",)
    heeds_gold = True

    target: Tensor
    matrices: Tensor | None

    def __init__(
        self,
        net: nn.Module,
        votes: Votes,
        *,
        labels: str = "naive_soft",
        targets: str = "soft",
        alpha: float | None = None,
    ) -> None:
        super().__init__(net, votes)
        if targets not in TARGETS:
            raise ValueError(f"targets is {targets!r}, expected one of {', '.join(TARGETS)}")
        if alpha is not None and targets != "smoothed":
            raise ValueError(f"alpha is for targets='smoothed', but targets is {targets!r}")
        aggregator = parse_strategy(labels)
        check_shares(aggregator, votes)
        result = aggregator.fit(votes)
        options = {} if alpha is None else {"alpha": alpha}
        target = TARGETS[targets](result, **options)
        self.register_buffer("target", torch.as_tensor(target, dtype=torch.float32))
        self.class_counts = self.target.sum(dim=0)
        self.labels = labels
        matrices = result.params.get("confusion")
        known = None if matrices is None else torch.as_tensor(matrices, dtype=torch.float32)
        self.register_buffer("matrices", known)

    def loss(self, batch: Batch) -> Tensor:
        return self.towards(self(batch.x), self.target[batch.task])

    def confusion(self) -> Tensor:
        if self.matrices is None:
            raise ValueError(f"{self.labels} has no confusion matrices; choose labels='dawid_skene'")
        return self.matrices
