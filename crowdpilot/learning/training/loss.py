"""Vote loss: cross-entropy of votes under predicted probabilities, with class balancing (focal etc.)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

Balance = Literal["none", "resample", "reweight", "focal", "cb_focal"]

MAX_FOCAL_LOG_PROB = -1e-6  # keeps the gradient of the focal factor finite where gamma < 1


def log_prob_of_label(logits: Tensor, label: Tensor) -> Tensor:
    """Log softmax(logits)[label] of each row, (rows,), for logits (rows, classes) and labels (rows,)."""
    return -F.cross_entropy(logits, label, reduction="none")


def weighted_mean(values: Tensor, weight: Tensor) -> Tensor:
    """sum(weight · values) / sum(weight), a scalar; zero if there are no values."""
    return (weight * values).sum() / weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)


@dataclass(frozen=True)
class VoteLoss:
    """The weighted mean over votes of -log P(label), and its variants for imbalanced classes.

    The loss of vote n with the predicted probability p_n of its label y_n and weight w_n is

        sum_n w_n r[y_n] (1 - p_n)^gamma (-log p_n) / sum_n w_n r[y_n]

    with gamma = 0 except for the focal losses, and r = 1 unless classes are resampled or reweighted.

    Parameters
    ----------
    balance
        "none"; "resample" repeats the votes of rare classes at random until all classes are equally
        frequent; "reweight" multiplies their loss by r[k] = max_c N_c / N_k instead; "focal" reduces the
        loss of votes that are predicted well; "cb_focal" does so and reweights by the effective number of
        votes.
    gamma
        The exponent of the focal loss.
    beta
        The effective number of N votes is (1 - beta^N) / (1 - beta).
    class_weight
        r, (classes,); set by `for_class_counts`.

    References
    ----------
    Lin et al., Focal loss for dense object detection, ICCV 2017. https://arxiv.org/abs/1708.02002
    Cui et al., Class-balanced loss based on effective number of samples, CVPR 2019.
    https://arxiv.org/abs/1901.05555
    """

    balance: Balance = "none"
    gamma: float = 2.0
    beta: float = 0.9999
    class_weight: Tensor | None = None

    def __post_init__(self) -> None:
        if self.balance not in get_args(Balance):
            raise ValueError(f"balance is {self.balance!r}, expected one of {', '.join(get_args(Balance))}")
        if self.gamma < 0 or not 0 <= self.beta < 1:
            raise ValueError(
                f"gamma is {self.gamma} and beta {self.beta}, expected gamma >= 0 and 0 <= beta < 1"
            )

    def for_class_counts(self, counts: Tensor) -> VoteLoss:
        """The same loss with the weights of classes that have so many votes, (classes,).

        A class without votes is weighted like the rarest one.
        """
        if self.balance in ("none", "focal"):
            return self
        smallest = counts[counts > 0].min() if (counts > 0).any() else counts.new_tensor(1.0)
        counts = counts.clamp(min=float(smallest))
        effective = 1 - self.beta ** counts.double() if self.balance == "cb_focal" else counts
        class_weight = (effective.max() / effective).float()
        return VoteLoss(self.balance, self.gamma, self.beta, class_weight)

    def __call__(self, log_probs: Tensor, label: Tensor, weight: Tensor) -> Tensor:
        """The mean loss, a scalar, of votes with these log-probabilities, labels and weights, (votes,)."""
        if self.class_weight is not None:
            ratio = self.class_weight.to(log_probs.device)[label]
            resample = self.balance == "resample"
            weight = weight * ((ratio + torch.rand_like(ratio)).floor() if resample else ratio)
        loss = -log_probs
        if self.balance in ("focal", "cb_focal"):
            loss = loss * (-torch.expm1(log_probs.clamp(max=MAX_FOCAL_LOG_PROB))) ** self.gamma
        return weighted_mean(loss, weight)
