"""Anno-Reg (Tanno et al. 2019): confusion matrices of the workers with trace regularization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from crowdpilot.learning.data.batches import Batch
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.loss import weighted_mean
from crowdpilot.votes import Votes


class AnnoReg(Method):
    """P(worker *j* says *l* | *x*) = Σ_k p(x)[k] · confusion[j, k, l], with trace regularization.

    p is the softmax of the network, and each row of each confusion matrix is a softmax of parameters
    that start as the identity. The loss is the mean cross-entropy of the votes plus `strength` times the
    mean over votes of the trace of the worker's matrix. Of all factorizations that explain the votes,
    the one with the least trace is the true one if workers are right more often than not. Workers
    without votes keep their initial matrix.

    Parameters
    ----------
    strength
        The paper's λ, the factor of the trace. Too large a value, such as 1, makes the workers so
        unreliable that the network learns permuted classes.

    References
    ----------
    Tanno et al., Learning from noisy labels by regularized estimation of annotator confusion,
    CVPR 2019. https://arxiv.org/abs/1902.03680
    """

    name = "anno_reg"
    aliases: ClassVar[tuple[str, ...]] = ("anno-reg", "trace_reg", "trace-reg", "tanno")
    file_names: ClassVar[Mapping[str, str]] = {"matrix": "confusion_logits"}

    def __init__(self, net: nn.Module, votes: Votes, *, strength: float = 0.1) -> None:
        super().__init__(net, votes)
        if strength < 0:
            raise ValueError(f"strength is {strength}, expected 0 or more")
        self.strength = strength
        self.matrix = nn.Parameter(
            torch.eye(self.classes).repeat(self.workers, 1, 1)
        )  # logits, (workers, said, true)

    def loss(self, batch: Batch) -> Tensor:
        J, K = self.workers, self.classes
        log_confusion = self.matrix.log_softmax(dim=1)
        of_vote = log_confusion.view(J * K, K).index_select(0, batch.worker * K + batch.label)
        log_class = self(batch.x).log_softmax(dim=-1).index_select(0, batch.row)
        loss = self.vote_loss((log_class + of_vote).logsumexp(dim=-1), batch.label, batch.weight)
        if not self.strength:
            return loss
        trace = log_confusion.diagonal(dim1=1, dim2=2).exp().sum(dim=1).index_select(0, batch.worker)
        return loss + self.strength * weighted_mean(trace, batch.weight)

    def confusion(self) -> Tensor:
        return self.matrix.softmax(dim=1).swapaxes(1, 2)
