"""The price of a vote that was not foreseen, and how rare classes are given their due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

Balance = Literal["none", "resample", "reweight", "focal", "cb_focal"]


def log_prob(logits: Tensor, label: Tensor) -> Tensor:
    """The log-probability of each label, given logits of all classes in the same row."""
    return -F.cross_entropy(logits, label, reduction="none")


def weighted_mean(values: Tensor, weight: Tensor) -> Tensor:
    """The mean of values, each counted `weight` times; zero if there are none."""
    return (weight * values).sum() / weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)


@dataclass(frozen=True)
class Cost:
    """Cross-entropy, and its variants for classes of unequal size.

    Parameters
    ----------
    balance
        "none"; "resample" repeats the votes of rare classes at random until all classes are equal;
        "reweight" multiplies their cost instead; "focal" makes votes that are foreseen well count
        less; "cb_focal" does so and reweights by the effective number of votes.
    gamma
        How fast the focal cost falls for votes that are foreseen.
    beta
        The effective number of N votes is (1 - beta^N) / (1 - beta).
    ratios
        How much each class counts; made by `fitted`.

    References
    ----------
    Lin et al., Focal loss for dense object detection, ICCV 2017. https://arxiv.org/abs/1708.02002
    Cui et al., Class-balanced loss based on effective number of samples, CVPR 2019.
    https://arxiv.org/abs/1901.05555
    """

    balance: Balance = "none"
    gamma: float = 2.0
    beta: float = 0.9999
    ratios: Tensor | None = None

    def __post_init__(self) -> None:
        if self.balance not in get_args(Balance):
            raise ValueError(f"balance is {self.balance!r}, expected one of {', '.join(get_args(Balance))}")
        if self.gamma < 0 or not 0 <= self.beta < 1:
            raise ValueError(
                f"gamma is {self.gamma} and beta {self.beta}, expected gamma >= 0 and 0 <= beta < 1"
            )

    def fitted(self, counts: Tensor) -> Cost:
        """The same cost for classes with so many votes; a class without votes counts like the rarest."""
        if self.balance in ("none", "focal"):
            return self
        least = counts[counts > 0].min() if (counts > 0).any() else counts.new_tensor(1.0)
        counts = counts.clamp(min=float(least))
        effective = 1 - self.beta ** counts.double() if self.balance == "cb_focal" else counts
        ratios = (effective.max() / effective).float()
        return Cost(self.balance, self.gamma, self.beta, ratios)

    def __call__(self, logs: Tensor, label: Tensor, weight: Tensor) -> Tensor:
        """Mean cost of labels whose log-probabilities are `logs`, each counted `weight` times."""
        if self.ratios is not None:
            ratio = self.ratios.to(logs.device)[label]
            drawn = self.balance == "resample"
            weight = weight * ((ratio + torch.rand_like(ratio)).floor() if drawn else ratio)
        cost = -logs
        if self.balance in ("focal", "cb_focal"):
            cost = cost * (-torch.expm1(logs.clamp(max=-1e-6))) ** self.gamma
        return weighted_mean(cost, weight)
