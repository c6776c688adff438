"""Two-stage learning: an aggregator labels the tasks, then a classifier is trained on its labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from crowdpilot.aggregation import parse_strategy
from crowdpilot.aggregation.registry import check_shares
from crowdpilot.learning.data.targets import TARGETS
from crowdpilot.learning.method import TargetMethod
from crowdpilot.votes import Votes


class TwoStage(TargetMethod):
    """Cross-entropy -Σ_k target_ik log p_k(x_i) to targets from the posterior of any aggregator.

    Parameters
    ----------
    labels
        The aggregator, such as "dawid_skene" or "glad[max_iter=20]".
    targets
        "soft", the posterior; "hard", its most probable label; "smoothed", that label with label
        smoothing; or "shard", that label weighted by its probability.
    alpha
        The share of "smoothed" that is spread over all classes; 0.1 if not given.

    References
    ----------
    Sayin et al., Crowd-powered hybrid classification services, ICWS 2021: soft and sHard targets.
    https://doi.org/10.1109/ICWS53863.2021.00019
    """

    name = "two_stage"
    aliases = ("aggregate", "train")
    file_names: ClassVar[Mapping[str, str]] = {"target": "target", "matrices": "confusion"}

    matrices: Tensor | None  # (workers, true, said), of aggregators that have them

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
        confusion = None if matrices is None else torch.as_tensor(matrices, dtype=torch.float32)
        self.register_buffer("matrices", confusion)

    def confusion(self) -> Tensor:
        if self.matrices is None:
            raise ValueError(f"{self.labels} has no confusion matrices; choose labels='dawid_skene'")
        return self.matrices
